//! AlterConfigs and IncrementalAlterConfigs: changing settings of topics and brokers, on any broker.

use std::collections::BTreeMap;
use std::sync::Arc;

use ottla_protocol::message::{
    AlterConfigsRequest, AlterConfigsResponse, ErrorCode, IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse, alter_configs, incremental_alter_configs,
};

use super::api::Api;
use super::call::Call;
use super::config_resource::{Refusal, Resource};
use crate::config::{BrokerConfig, Kind, TopicConfig};
use crate::dynamic_config;
use crate::zk::layout::config::Values;

/// What is done to one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    Set(String),
    Delete,
    /// Adds items to a list.
    Append(String),
    /// Takes items out of a list.
    Subtract(String),
}

/// What is done to one resource.
#[derive(Debug)]
struct Alteration {
    kind: i8,
    name: String,
    /// Starts from nothing instead of from what is there.
    replace: bool,
    changes: Vec<(String, Result<Change, Refusal>)>,
}

/// Replaces all settings of each resource.
pub(super) fn replace(api: &Arc<Api>, call: Call<AlterConfigsRequest>) {
    let Call { body, reply, .. } = call;
    let alterations = body.resources.into_iter().map(|resource| {
        let changes = resource.configs.into_iter().map(|config| {
            let change = config.value.map(Change::Set).ok_or_else(|| no_value(&config.name));
            (config.name, change)
        });
        let (kind, name) = (resource.resource_type, resource.resource_name);
        Alteration { kind, name, replace: true, changes: changes.collect() }
    });
    let (alterations, task) = (alterations.collect::<Vec<_>>(), Arc::clone(api));
    api.spawn(async move {
        let outcomes = alter_all(&task, alterations, body.validate_only).await;
        let responses = outcomes.into_iter().map(|(alteration, error, message)| {
            alter_configs::AlterConfigsResourceResponse {
                error_code: error.code(),
                error_message: message,
                resource_type: alteration.kind,
                resource_name: alteration.name,
                ..Default::default()
            }
        });
        reply.send(&AlterConfigsResponse { responses: responses.collect(), ..Default::default() });
    });
}

/// Changes some settings of each resource.
pub(super) fn incremental(api: &Arc<Api>, call: Call<IncrementalAlterConfigsRequest>) {
    let Call { body, reply, .. } = call;
    let alterations = body.resources.into_iter().map(|resource| {
        let changes = resource.configs.into_iter().map(|config| {
            let change = read_change(config.config_operation, &config.name, config.value);
            (config.name, change)
        });
        let (kind, name) = (resource.resource_type, resource.resource_name);
        Alteration { kind, name, replace: false, changes: changes.collect() }
    });
    let (alterations, task) = (alterations.collect::<Vec<_>>(), Arc::clone(api));
    api.spawn(async move {
        let outcomes = alter_all(&task, alterations, body.validate_only).await;
        let responses = outcomes.into_iter().map(|(alteration, error, message)| {
            incremental_alter_configs::AlterConfigsResourceResponse {
                error_code: error.code(),
                error_message: message,
                resource_type: alteration.kind,
                resource_name: alteration.name,
                ..Default::default()
            }
        });
        reply.send(&IncrementalAlterConfigsResponse { responses: responses.collect(), ..Default::default() });
    });
}

/// Kafka's `AlterConfigOp.OpType`.
fn read_change(operation: i8, name: &str, value: Option<String>) -> Result<Change, Refusal> {
    let needed = |value: Option<String>| value.ok_or_else(|| no_value(name));
    match operation {
        0 => needed(value).map(Change::Set),
        1 => Ok(Change::Delete),
        2 => needed(value).map(Change::Append),
        3 => needed(value).map(Change::Subtract),
        other => {
            Err(Refusal::new(ErrorCode::InvalidRequest, format!("{name}: there is no operation {other}")))
        }
    }
}

fn no_value(name: &str) -> Refusal {
    Refusal::new(ErrorCode::InvalidRequest, format!("{name}: a value is needed"))
}

async fn alter_all(
    api: &Api,
    alterations: Vec<Alteration>,
    validate_only: bool,
) -> Vec<(Alteration, ErrorCode, Option<String>)> {
    let mut seen: BTreeMap<(i8, String), usize> = BTreeMap::new();
    for alteration in &alterations {
        *seen.entry((alteration.kind, alteration.name.clone())).or_default() += 1;
    }
    let mut outcomes = Vec::with_capacity(alterations.len());
    for alteration in alterations {
        let doubled = seen.get(&(alteration.kind, alteration.name.clone())).is_some_and(|count| *count > 1);
        let outcome = if doubled {
            Err(Refusal::new(ErrorCode::InvalidRequest, "the resource is there more than once"))
        } else {
            alter(api, &alteration, validate_only).await
        };
        outcomes.push(match outcome {
            Ok(()) => (alteration, ErrorCode::None, None),
            Err(refusal) => (alteration, refusal.error, Some(refusal.message)),
        });
    }
    outcomes
}

async fn alter(api: &Api, alteration: &Alteration, validate_only: bool) -> Result<(), Refusal> {
    let resource = Resource::find(api, alteration.kind, &alteration.name)?;
    let entity = resource.entity(api.broker_id);
    let session = api.zk.session();
    let failed = |error: crate::zk::Error| Refusal::new(ErrorCode::UnknownServerError, error.to_string());
    let before = dynamic_config::read(&session, &entity).await.map_err(failed)?;
    let after = apply(api, &resource, alteration, &before)?;
    if validate_only || (after == before && !alteration.replace) {
        return Ok(());
    }
    dynamic_config::write(&session, &entity, &after).await.map_err(failed)?;
    tracing::info!(%entity, before = ?before, after = ?after, "settings changed");
    Ok(())
}

/// Returns the settings after the changes, each of them checked.
fn apply(
    api: &Api,
    resource: &Resource,
    alteration: &Alteration,
    before: &Values,
) -> Result<Values, Refusal> {
    let mut after = if alteration.replace { Values::new() } else { before.clone() };
    let mut changed: Vec<&String> = alteration.changes.iter().map(|(name, _)| name).collect();
    changed.sort();
    if let Some(doubled) =
        changed.windows(2).find_map(|pair| (pair.first() == pair.last()).then(|| pair.first()))
    {
        let name = doubled.map_or("", |name| name.as_str());
        return Err(Refusal::new(ErrorCode::InvalidRequest, format!("{name} is there more than once")));
    }
    for (name, change) in &alteration.changes {
        change_one(api, resource, &mut after, name, change.clone()?)?;
    }
    check(api, resource, &after)?;
    Ok(after)
}

fn change_one(
    api: &Api,
    resource: &Resource,
    values: &mut Values,
    name: &str,
    change: Change,
) -> Result<(), Refusal> {
    let (kind, inherited) = match resource {
        Resource::Topic(_) => {
            let defaults = TopicConfig::of_broker(&api.config.current());
            (TopicConfig::key(name).map(|row| row.key.kind), defaults.get(name))
        }
        Resource::Broker | Resource::Cluster => {
            (BrokerConfig::key(name).map(|row| row.kind), api.config.current().get(name))
        }
    };
    let items = |text: &str| -> Vec<String> {
        text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
    };
    let current = || items(values.get(name).or(inherited.as_ref()).map_or("", String::as_str));
    let is_list = kind == Some(Kind::List);
    let value = match change {
        Change::Set(value) => value,
        Change::Delete => {
            values.remove(name);
            return Ok(());
        }
        Change::Append(_) | Change::Subtract(_) if !is_list => {
            return Err(Refusal::new(ErrorCode::InvalidConfig, format!("{name} is not a list")));
        }
        Change::Append(added) => {
            let mut list = current();
            for item in items(&added) {
                if !list.contains(&item) {
                    list.push(item);
                }
            }
            list.join(",")
        }
        Change::Subtract(taken) => {
            let taken = items(&taken);
            current().into_iter().filter(|item| !taken.contains(item)).collect::<Vec<_>>().join(",")
        }
    };
    values.insert(name.to_owned(), value);
    Ok(())
}

fn check(api: &Api, resource: &Resource, values: &Values) -> Result<(), Refusal> {
    match resource {
        Resource::Topic(_) => TopicConfig::new(&api.config.current(), values)
            .map(drop)
            .map_err(|(key, problem)| Refusal::new(ErrorCode::InvalidConfig, format!("{key}: {problem}"))),
        Resource::Broker | Resource::Cluster => {
            for (key, value) in values {
                api.config.check_change(key, value).map_err(|problem| {
                    Refusal::new(ErrorCode::InvalidRequest, format!("{key}: {problem}"))
                })?;
            }
            Ok(())
        }
    }
}
