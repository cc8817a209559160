//! The lives of processes as updates of the model.

use ottla_broker::types::{BrokerId, Millis};

use crate::model::{ClusterUpdate, ProcessKind, ProcessState, ProcessUpdate, Profile, Update};
use crate::supervisor::{ClusterSpec, Driver, Layout, Life, Notice, Role, ZookeeperSpec};

/// Returns what the console was told to look at.
pub fn profile(spec: &ClusterSpec, layout: &Layout) -> Update {
    Update::Cluster(ClusterUpdate::Profile(Profile {
        name: spec.name.clone(),
        data_dir: Some(layout.root().display().to_string()),
        zookeeper: spec.zookeeper_connect(),
        zookeeper_embedded: matches!(spec.zookeeper, ZookeeperSpec::Embedded { .. }),
        read_only: false,
    }))
}

/// Returns where every process is expected and how it is.
pub fn process_updates(driver: &Driver) -> Vec<Update> {
    let mut updates = Vec::new();
    for (role, life) in driver.machine().lives() {
        let process = kind(role);
        if let Some(port) = port(driver.spec(), role) {
            let expected = ProcessUpdate::Expected { host: "127.0.0.1".to_owned(), port };
            updates.push(Update::Process { process, update: expected });
        }
        updates.push(Update::Process { process, update: ProcessUpdate::State(state(life)) });
    }
    updates
}

/// Returns what a notice says of the process it is about, if it says more than its life does.
pub(super) fn notice_update(notice: &Notice, life: impl Fn(Role) -> Life) -> Option<Update> {
    let (role, state) = match notice {
        Notice::Died { role, ending } => (*role, ProcessState::Died { ending: ending.to_string() }),
        Notice::StartFailed { role, why } => (*role, ProcessState::Failed { why: why.clone() }),
        Notice::Stopped(role) => (*role, ProcessState::Stopped),
        Notice::Ready { role, took, .. } => match life(*role) {
            Life::Running { identity } => {
                let pid = u32::try_from(identity.pid).ok()?;
                (*role, ProcessState::Running { pid, took: *took })
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(Update::Process { process: kind(role), update: ProcessUpdate::State(state) })
}

/// Returns which process plays a role.
pub(super) fn kind(role: Role) -> ProcessKind {
    match role {
        Role::Zookeeper => ProcessKind::Zookeeper,
        Role::Broker(id) => ProcessKind::Broker(BrokerId(id)),
    }
}

/// Returns the state in the model that a life is.
pub(super) fn state(life: Life) -> ProcessState {
    let pid = life.identity().and_then(|identity| u32::try_from(identity.pid).ok());
    match (life, pid) {
        (Life::Absent, _) => ProcessState::Absent,
        (Life::Queued, _) => ProcessState::Queued,
        (Life::Spawning { .. } | Life::Starting { .. }, pid) => ProcessState::Starting { pid },
        (Life::Running { .. }, Some(pid)) => ProcessState::Running { pid, took: None::<Millis> },
        (Life::Frozen { .. }, Some(pid)) => ProcessState::Frozen { pid },
        (Life::Stopping { .. }, Some(pid)) => ProcessState::Stopping { pid },
        (Life::Running { .. } | Life::Frozen { .. } | Life::Stopping { .. }, None) => ProcessState::Absent,
    }
}

fn port(spec: &ClusterSpec, role: Role) -> Option<u16> {
    match (role, &spec.zookeeper) {
        (Role::Zookeeper, ZookeeperSpec::Embedded { port }) => Some(*port),
        (Role::Zookeeper, ZookeeperSpec::External { .. }) => None,
        (Role::Broker(id), _) => spec.brokers.iter().find(|broker| broker.id == id).map(|broker| broker.port),
    }
}
