//! All of the network: listeners, acceptors, processors and the request channel, started and stopped in order.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::watch;

use super::acceptor::{Acceptor, AcceptorShared};
use super::connection::Shared;
use super::limits::ConnectionLimits;
use super::mailbox::Mailbox;
use super::metrics::NetMetrics;
use super::processor::Processor;
use super::request_channel::RequestChannel;
use crate::config::{BrokerConfig, Listener};

/// Why the network could not be started.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// A listener's address cannot be bound.
    #[error("bind listener {listener}: {source}")]
    Bind {
        /// The listener.
        listener: String,
        /// Why not.
        source: io::Error,
    },
    /// A thread or its runtime cannot be had.
    #[error("start a network thread: {0}")]
    Thread(#[from] io::Error),
}

/// A listener that is bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundListener {
    /// Its name.
    pub name: Arc<str>,
    /// Where it really listens.
    pub address: SocketAddr,
}

/// The network of a broker.
///
/// Binding comes first: clients may then connect and wait. [`Server::start`] lets them in.
#[derive(Debug)]
pub struct Server {
    bound: Vec<BoundListener>,
    channel: Arc<RequestChannel>,
    metrics: Arc<NetMetrics>,
    shared: Arc<AcceptorShared>,
    stop: watch::Sender<bool>,
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
struct Running {
    /// Bound and not yet started.
    waiting: Vec<(Arc<str>, TcpListener)>,
    acceptors: Vec<Acceptor>,
    processors: Vec<Processor>,
}

impl Server {
    /// Binds the listeners of `config`.
    ///
    /// # Errors
    /// When an address cannot be bound.
    pub fn bind(config: Arc<ArcSwap<BrokerConfig>>, metrics: Arc<NetMetrics>) -> Result<Self, NetError> {
        let current = config.load_full();
        let mut bound = Vec::new();
        let mut waiting = Vec::new();
        for listener in &current.listeners {
            let failed = |source| NetError::Bind { listener: listener.to_string(), source };
            let socket = bind(listener, current.socket_listen_backlog_size).map_err(failed)?;
            let address = socket.local_addr().map_err(failed)?;
            let name: Arc<str> = Arc::from(listener.name.as_str());
            bound.push(BoundListener { name: Arc::clone(&name), address });
            waiting.push((name, socket));
        }
        let capacity = usize::try_from(current.queued_max_requests).unwrap_or(1);
        let channel = Arc::new(RequestChannel::new(capacity));
        let shared = Arc::new(AcceptorShared {
            config,
            metrics: Arc::clone(&metrics),
            limits: Arc::new(ConnectionLimits::default()),
            mailboxes: ArcSwap::default(),
            next_processor: AtomicUsize::new(0),
            next_connection: AtomicU64::new(0),
        });
        let running = Mutex::new(Running { waiting, ..Running::default() });
        Ok(Self { bound, channel, metrics, shared, stop: watch::Sender::new(false), running })
    }

    /// Starts processors and acceptors: clients are let in and their requests reach the channel.
    ///
    /// # Errors
    /// When a thread cannot be had.
    pub fn start(self: &Arc<Self>) -> Result<(), NetError> {
        let count = usize::try_from(self.shared.config.load().num_network_threads).unwrap_or(1);
        self.set_processors(count)?;
        let mut running = self.lock();
        for (name, listener) in std::mem::take(&mut running.waiting) {
            let acceptor = Acceptor::start(name, listener, Arc::clone(&self.shared), self.stop.subscribe())?;
            running.acceptors.push(acceptor);
        }
        drop(running);
        self.register_gauges();
        Ok(())
    }

    /// Changes the number of processors. Connections of those that end are closed; their clients connect again.
    ///
    /// # Errors
    /// When a thread cannot be had.
    pub fn set_processors(&self, count: usize) -> Result<(), NetError> {
        let mut running = self.lock();
        while running.processors.len() < count {
            let number = running.processors.len();
            running.processors.push(self.start_processor(number)?);
        }
        let ending = running.processors.split_off(count);
        let mailboxes = running.processors.iter().map(|processor| Arc::clone(&processor.mailbox)).collect();
        drop(running);
        self.shared.mailboxes.store(Arc::new(mailboxes));
        drop(ending);
        Ok(())
    }

    /// Returns where the listeners are bound, in the order of the configuration.
    #[must_use]
    pub fn bound(&self) -> &[BoundListener] {
        &self.bound
    }

    /// Returns the channel that requests arrive on.
    #[must_use]
    pub fn channel(&self) -> &Arc<RequestChannel> {
        &self.channel
    }

    /// Returns what the network counts.
    #[must_use]
    pub fn metrics(&self) -> &Arc<NetMetrics> {
        &self.metrics
    }

    /// Takes no more requests; responses still go out. Handlers end when the channel is empty.
    pub fn stop_requests(&self) {
        self.stop.send_replace(true);
        for acceptor in &mut self.lock().acceptors {
            acceptor.join();
        }
        self.channel.close();
    }

    /// Closes every connection and ends every thread.
    pub fn shutdown(&self) {
        self.stop_requests();
        let mut running = self.lock();
        running.waiting.clear();
        let processors = std::mem::take(&mut running.processors);
        drop(running);
        drop(processors);
    }

    fn start_processor(&self, number: usize) -> Result<Processor, NetError> {
        let config = self.shared.config.load();
        let shared = Shared {
            mailbox: Arc::new(Mailbox::default()),
            channel: Arc::clone(&self.channel),
            metrics: Arc::clone(&self.metrics),
            max_frame_bytes: usize::try_from(config.socket_request_max_bytes).unwrap_or(0),
            max_idle: Duration::from_millis(u64::try_from(config.connections_max_idle_ms).unwrap_or(1)),
        };
        Ok(Processor::start(number, shared)?)
    }

    fn register_gauges(self: &Arc<Self>) {
        let registry = self.metrics.registry();
        let channel = Arc::clone(&self.channel);
        registry.gauge_reader(
            "kafka_network_requestchannel_requestqueuesize",
            "Requests that wait for a handler.",
            &[],
            move || count(channel.depth()),
        );
        let capacity = count(self.channel.capacity());
        registry.gauge_reader(
            "ottla_network_requestchannel_capacity",
            "Requests that the channel holds before processors stop reading.",
            &[],
            move || capacity,
        );
        let channel = Arc::clone(&self.channel);
        registry.gauge_reader(
            "ottla_network_requestchannel_requestqueuesize_max",
            "The most requests that waited in the last minute.",
            &[],
            move || f64::from(channel.deepest()),
        );
        let server = Arc::downgrade(self);
        registry.collector(move |samples| {
            if let Some(server) = server.upgrade() {
                server.sample_processors(samples);
            }
        });
    }

    fn sample_processors(&self, samples: &mut crate::metrics::Samples) {
        let running = self.lock();
        let mut idle = 0.0;
        for processor in &running.processors {
            let number = processor.number.to_string();
            let ratio = processor.idle.ratio();
            idle += ratio;
            samples.gauge(
                "kafka_network_requestchannel_responsequeuesize",
                "Responses that wait for a processor.",
                &[("processor", &number)],
                count(processor.mailbox.depth()),
            );
            samples.gauge(
                "ottla_network_requestchannel_responsequeuesize_max",
                "The most responses that waited in the last minute.",
                &[("processor", &number)],
                f64::from(processor.mailbox.deepest()),
            );
            samples.gauge(
                "kafka_network_processor_idlepercent",
                "Share of the last minute that a processor slept, 0 to 1.",
                &[("networkprocessor", &number)],
                ratio,
            );
        }
        samples.gauge(
            "kafka_network_socketserver_networkprocessoravgidlepercent",
            "Share of the last minute that processors slept, 0 to 1.",
            &[],
            idle / count(running.processors.len().max(1)),
        );
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(clippy::cast_precision_loss, reason = "queue lengths are far below 2^53")]
fn count(number: usize) -> f64 {
    number as f64
}

fn bind(listener: &Listener, backlog: i32) -> io::Result<TcpListener> {
    let host = if listener.host.is_empty() { "0.0.0.0" } else { &listener.host };
    let addresses: Vec<SocketAddr> = (host, listener.port).to_socket_addrs()?.collect();
    let socket = TcpListener::bind(addresses.as_slice())?;
    // Listening again only changes the length of the backlog, which the standard library does not ask for.
    rustix::net::listen(&socket, backlog)?;
    Ok(socket)
}
