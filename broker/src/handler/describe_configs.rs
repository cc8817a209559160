//! DescribeConfigs: the settings of topics and brokers, and where each comes from.

use std::sync::Arc;

use ottla_protocol::message::describe_configs::{
    DescribeConfigsResource, DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use ottla_protocol::message::{DescribeConfigsRequest, DescribeConfigsResponse, ErrorCode};

use super::api::Api;
use super::call::Call;
use super::config_resource::{Refusal, Resource};
use crate::config::{BrokerConfig, Key, LiveConfig, Source, TopicConfig, Update};
use crate::dynamic_config;
use crate::zk::layout::config::Values;

/// Kafka's `ConfigSource.TOPIC_CONFIG`.
const DYNAMIC_TOPIC: i8 = 1;

pub(super) fn handle(api: &Arc<Api>, call: Call<DescribeConfigsRequest>) {
    let Call { body, reply, .. } = call;
    let task = Arc::clone(api);
    api.spawn(async move {
        let mut results = Vec::with_capacity(body.resources.len());
        for resource in &body.resources {
            let described = describe(&task, resource, &body).await;
            let (error, message, configs) = match described {
                Ok(configs) => (ErrorCode::None, None, configs),
                Err(refusal) => (refusal.error, Some(refusal.message), Vec::new()),
            };
            results.push(DescribeConfigsResult {
                error_code: error.code(),
                error_message: message,
                resource_type: resource.resource_type,
                resource_name: resource.resource_name.clone(),
                configs,
                ..DescribeConfigsResult::default()
            });
        }
        reply.send(&DescribeConfigsResponse { results, ..DescribeConfigsResponse::default() });
    });
}

async fn describe(
    api: &Api,
    asked: &DescribeConfigsResource,
    request: &DescribeConfigsRequest,
) -> Result<Vec<DescribeConfigsResourceResult>, Refusal> {
    let resource = Resource::find(api, asked.resource_type, &asked.resource_name)?;
    let entity = resource.entity(api.broker_id);
    let own = dynamic_config::read(&api.zk.session(), &entity)
        .await
        .map_err(|error| Refusal::new(ErrorCode::UnknownServerError, error.to_string()))?;
    let rows = match &resource {
        Resource::Topic(_) => topic_rows(&api.config, &own),
        Resource::Broker => broker_rows(&api.config),
        Resource::Cluster => cluster_rows(&own),
    };
    let wanted = asked.configuration_keys.as_deref().filter(|keys| !keys.is_empty());
    let rows =
        rows.into_iter().filter(|row| wanted.is_none_or(|keys| keys.iter().any(|key| key == row.name)));
    Ok(rows.map(|row| row.into_result(request)).collect())
}

/// A setting on its way into the answer.
#[derive(Debug)]
struct Row {
    name: &'static str,
    key: &'static Key,
    value: Option<String>,
    source: i8,
    /// All values written down, the one in force first.
    layers: Vec<(&'static str, String, i8)>,
}

fn topic_rows(live: &LiveConfig, own: &Values) -> Vec<Row> {
    let effective = TopicConfig::lenient(&live.current(), own);
    let row = |topic_key: &'static crate::config::TopicKey| {
        let name = topic_key.key.name;
        let own_value = own.get(name).map(|value| (name, value.clone(), DYNAMIC_TOPIC));
        let inherited = live
            .layers(topic_key.broker_key)
            .into_iter()
            .map(|(value, source)| (topic_key.broker_key, value, source.code()));
        let layers: Vec<_> = own_value.into_iter().chain(inherited).collect();
        let source = layers.first().map_or(Source::Default.code(), |(_, _, source)| *source);
        Row { name, key: &topic_key.key, value: effective.get(name), source, layers }
    };
    TopicConfig::KEYS.iter().map(row).collect()
}

fn broker_rows(live: &LiveConfig) -> Vec<Row> {
    let effective = live.current();
    let row = |key: &'static Key| {
        let layers =
            live.layers(key.name).into_iter().map(|(value, source)| (key.name, value, source.code()));
        let value = effective.get(key.name).filter(|value| !value.is_empty());
        Row { name: key.name, key, value, source: live.source(key.name).code(), layers: layers.collect() }
    };
    BrokerConfig::KEYS.iter().map(row).collect()
}

/// Of all brokers together only what was changed is known.
fn cluster_rows(own: &Values) -> Vec<Row> {
    let source = Source::DynamicDefault.code();
    let row = |(name, value): (&String, &String)| {
        let key = BrokerConfig::key(name)?;
        let layers = vec![(key.name, value.clone(), source)];
        Some(Row { name: key.name, key, value: Some(value.clone()), source, layers })
    };
    own.iter().filter_map(row).collect()
}

impl Row {
    fn into_result(self, request: &DescribeConfigsRequest) -> DescribeConfigsResourceResult {
        let synonym = |(name, value, source): (&str, String, i8)| DescribeConfigsSynonym {
            name: name.to_owned(),
            value: Some(value),
            source,
            ..DescribeConfigsSynonym::default()
        };
        let synonyms = if request.include_synonyms {
            self.layers.into_iter().map(synonym).collect()
        } else {
            Vec::new()
        };
        DescribeConfigsResourceResult {
            name: self.name.to_owned(),
            value: self.value,
            read_only: self.key.update == Update::ReadOnly,
            is_default: self.source == Source::Default.code(),
            config_source: self.source,
            is_sensitive: false,
            synonyms,
            config_type: self.key.kind.code(),
            documentation: request.include_documentation.then(|| self.key.doc.to_owned()),
            ..DescribeConfigsResourceResult::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DynamicScope;

    fn values(pairs: &[(&str, &str)]) -> Values {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_topic_inherits_what_it_does_not_set() {
        let live = LiveConfig::new(BrokerConfig::default(), values(&[("log.retention.ms", "5")]));
        live.apply(DynamicScope::Cluster, values(&[("min.insync.replicas", "2")]));
        let rows = topic_rows(&live, &values(&[("segment.bytes", "1000")]));
        let find = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
        let told = |name: &str| (find(name).value.clone().unwrap(), find(name).source);
        assert_eq!(told("segment.bytes"), ("1000".to_owned(), DYNAMIC_TOPIC));
        assert_eq!(told("min.insync.replicas"), ("2".to_owned(), Source::DynamicDefault.code()));
        assert_eq!(find("retention.ms").source, Source::Static.code());
        assert_eq!(told("cleanup.policy"), ("delete".to_owned(), Source::Default.code()));
        let layers: Vec<_> = find("segment.bytes").layers.iter().map(|(name, _, _)| *name).collect();
        assert_eq!(layers, ["segment.bytes", "log.segment.bytes"]);
    }
}
