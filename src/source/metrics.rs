//! The metrics page of each broker of a local cluster.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use ottla_broker::runtime_file::RuntimeFile;
use ottla_broker::types::BrokerId;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::feed::Feed;
use super::map::ClusterMap;
use super::prometheus::{self, Sample};
use crate::model::{NetworkSample, ProcessorSample, RequestSample, SourceName, Update};
use crate::supervisor::{Layout, Role};

/// How often the pages are read.
const INTERVAL: Duration = Duration::from_secs(1);
/// A page that takes longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(3);
/// No page is longer: each partition has a few lines.
const PAGE_BYTES_MAX: u64 = 32 << 20;

/// Reads until dropped.
pub(super) async fn run(layout: Layout, map: watch::Receiver<Arc<ClusterMap>>, feed: Feed) {
    loop {
        let brokers: Vec<BrokerId> = map.borrow().brokers.keys().copied().collect();
        for broker in brokers {
            match read_broker(&layout, broker).await {
                Ok(Some(sample)) => {
                    feed.say(Update::Network { broker, sample }).await;
                    feed.fresh(SourceName::Metrics(broker)).await;
                }
                // A broker of another machine, or one that is just coming or going.
                Ok(None) => {}
                Err(error) => feed.stale(SourceName::Metrics(broker), error).await,
            }
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Reads the page of one broker; `None` when it has none here.
pub(super) async fn read_broker(
    layout: &Layout,
    broker: BrokerId,
) -> Result<Option<NetworkSample>, io::Error> {
    let record = RuntimeFile::read(&layout.runtime(Role::Broker(broker.0))).map_err(io::Error::other)?;
    let Some(address) = record.and_then(|record| record.metrics_address) else { return Ok(None) };
    let page = tokio::time::timeout(PATIENCE, get(&address)).await??;
    Ok(Some(sample(&prometheus::parse(&page))))
}

async fn get(address: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.take(PAGE_BYTES_MAX).read_to_string(&mut answer).await?;
    let (head, page) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::InvalidData)?;
    if !head.lines().next().is_some_and(|status| status.contains(" 200")) {
        return Err(io::Error::other(format!("{address}: {}", head.lines().next().unwrap_or_default())));
    }
    Ok(page.to_owned())
}

/// Makes of the page what the console shows.
fn sample(samples: &[Sample]) -> NetworkSample {
    let mut network = NetworkSample::default();
    let mut processors: BTreeMap<u32, ProcessorSample> = BTreeMap::new();
    let mut requests: BTreeMap<String, RequestSample> = BTreeMap::new();
    for sample in samples {
        let label = |name: &str| sample.labels.get(name).map(String::as_str).unwrap_or_default();
        match sample.name.as_str() {
            "kafka_network_requestchannel_requestqueuesize" => {
                network.request_queue_size = whole(sample.value)
            }
            "ottla_network_requestchannel_requestqueuesize_max" => {
                network.request_queue_max = Some(whole(sample.value));
            }
            "ottla_network_requestchannel_capacity" => {
                network.request_queue_capacity = Some(whole(sample.value))
            }
            "ottla_handler_threads" => network.handlers = Some(whole(sample.value)),
            "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent" => {
                network.handler_idle_ratio = Some(sample.value);
            }
            "kafka_server_socket_server_metrics_incoming_byte_total" => {
                network.bytes_in_total = Some(total(sample.value));
            }
            "kafka_server_socket_server_metrics_outgoing_byte_total" => {
                network.bytes_out_total = Some(total(sample.value));
            }
            "ottla_network_rejected_total" => {
                network.refused_total.insert(label("reason").to_owned(), total(sample.value));
            }
            "kafka_server_delayedoperationpurgatory_purgatorysize" => {
                network.purgatory.insert(label("delayedoperation").to_owned(), whole(sample.value));
            }
            name if name.starts_with("kafka_network_requestmetrics_") => {
                let entry = requests.entry(label("request").to_owned()).or_default();
                request_sample(entry, name, sample.value);
            }
            name => {
                let number = if name.contains("_processor_") || name.contains("socket_server") {
                    label("networkprocessor")
                } else {
                    label("processor")
                };
                if let Ok(number) = number.parse() {
                    processor_sample(processors.entry(number).or_default(), name, sample.value);
                }
            }
        }
    }
    network.processors =
        processors.into_iter().map(|(processor, sample)| ProcessorSample { processor, ..sample }).collect();
    network.requests =
        requests.into_iter().map(|(request, sample)| RequestSample { request, ..sample }).collect();
    network
}

fn processor_sample(processor: &mut ProcessorSample, name: &str, value: f64) {
    match name {
        "kafka_network_requestchannel_responsequeuesize" => processor.response_queue_size = whole(value),
        "ottla_network_requestchannel_responsequeuesize_max" => {
            processor.response_queue_max = Some(whole(value))
        }
        "kafka_network_processor_idlepercent" => processor.idle_ratio = Some(value),
        "kafka_server_socket_server_metrics_connection_count" => {
            *processor.connections.get_or_insert(0) += whole(value);
        }
        _ => {}
    }
}

fn request_sample(request: &mut RequestSample, name: &str, value: f64) {
    let times = &mut request.times_total;
    match name.trim_start_matches("kafka_network_requestmetrics_") {
        "requests_total" => request.count_total = total(value),
        "errors_total" => request.errors_total = request.errors_total.saturating_add(total(value)),
        "totaltimems_sum" => times.total_ms = value,
        "requestqueuetimems_sum" => times.request_queue_ms = value,
        "localtimems_sum" => times.local_ms = value,
        "remotetimems_sum" => times.remote_ms = value,
        "responsequeuetimems_sum" => times.response_queue_ms = value,
        "responsesendtimems_sum" => times.response_send_ms = value,
        _ => {}
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
fn whole(value: f64) -> u32 {
    value.clamp(0.0, f64::from(u32::MAX)) as u32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits exactly")]
fn total(value: f64) -> u64 {
    value.clamp(0.0, 9_007_199_254_740_992.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_becomes_queues_processors_and_requests() {
        let page = "kafka_network_requestchannel_requestqueuesize 7\n\
            kafka_network_requestchannel_responsequeuesize{processor=\"1\"} 3\n\
            kafka_network_processor_idlepercent{networkprocessor=\"1\"} 0.9\n\
            kafka_server_socket_server_metrics_connection_count{listener=\"PLAINTEXT\",networkprocessor=\"1\"} 4\n\
            kafka_network_requestmetrics_requests_total{request=\"Produce\"} 12\n\
            kafka_network_requestmetrics_totaltimems_sum{request=\"Produce\"} 6.5\n\
            ottla_network_rejected_total{reason=\"header\"} 2\n";
        let sample = sample(&prometheus::parse(page));
        assert_eq!(sample.request_queue_size, 7);
        assert_eq!(sample.processors.len(), 1);
        let processor = &sample.processors[0];
        assert_eq!(
            (processor.processor, processor.response_queue_size, processor.connections),
            (1, 3, Some(4))
        );
        assert_eq!((sample.requests[0].count_total, sample.requests[0].times_total.total_ms), (12, 6.5));
        assert_eq!(sample.refused_total["header"], 2);
    }
}
