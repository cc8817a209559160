//! A broker's own node in `/brokers/ids`.
//!
//! The node is ephemeral, so a broker's death is the node's. Its creation transaction is the broker's epoch.

use std::time::Duration;

use super::layout::broker::{self, Registration};
use super::session::{CreateMode, Error, Handle, MultiError, Op, OpResult, WatchEnd, Zk};
use crate::types::{BrokerEpoch, BrokerId};

/// How long over its own timeout a lost session may take to be expired by the server.
const EXPIRY_SLACK: Duration = Duration::from_secs(2);

/// What a registration attempt met.
enum Attempt {
    Registered(BrokerEpoch),
    /// Another session owns the node.
    Foreign {
        session: i64,
        data: Vec<u8>,
    },
    /// The node changed while it was looked at.
    Again,
}

/// Registers `broker` and returns its epoch.
///
/// A node of this process's own session counts as success, for the answer to an earlier attempt may have been lost. A
/// node of a session that this process had and lost is replaced. A node of any other session is either that of a
/// process that died and whose session has not run out yet, which goes by itself, or that of a living broker with the
/// same id, which does not: the node is watched for as long as the session of a dead process can last.
///
/// # Errors
/// When another living broker has the id or advertises the same address, or the session is over.
pub async fn register(zk: &Zk, broker: BrokerId, registration: &Registration) -> Result<BrokerEpoch, Error> {
    let session = zk.session();
    check_endpoints(&session, broker, registration).await?;
    let deadline = tokio::time::Instant::now() + session.timeout() + EXPIRY_SLACK;
    let mut said = false;
    loop {
        match attempt(zk, &session, broker, registration).await? {
            Attempt::Registered(epoch) => return Ok(epoch),
            Attempt::Again => {}
            Attempt::Foreign { session: owner, data } => {
                let address = advertised(broker, &data);
                if !said {
                    tracing::warn!(
                        %broker, %address, session = format_args!("{owner:#x}"),
                        "another session holds this broker's registration; waiting for it to expire"
                    );
                    said = true;
                }
                if !gone_before(&session, broker, deadline).await? {
                    return Err(Error::BrokerIdInUse { broker, address, session: owner });
                }
            }
        }
    }
}

/// Writes a changed registration into the broker's existing node; the epoch stays.
///
/// # Errors
/// When the node is gone or the session is over.
pub async fn update(session: &Handle, broker: BrokerId, registration: &Registration) -> Result<(), Error> {
    session.set(&broker::path(broker), &registration.encode(), None).await.map(drop)
}

async fn attempt(
    zk: &Zk,
    session: &Handle,
    broker: BrokerId,
    registration: &Registration,
) -> Result<Attempt, Error> {
    let path = broker::path(broker);
    let data = registration.encode();
    let fresh = creation(&path, &data);
    match session.multi(&fresh).await {
        Ok(results) => return Ok(epoch_of(&results)),
        Err(MultiError::Operation { source: Error::NodeExists { .. }, .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let Some((present, stat)) = session.get(&path).await? else { return Ok(Attempt::Again) };
    if stat.ephemeral_owner == session.identity().session_id {
        return Ok(Attempt::Registered(BrokerEpoch(stat.czxid)));
    }
    if !zk.had_session(stat.ephemeral_owner) {
        return Ok(Attempt::Foreign { session: stat.ephemeral_owner, data: present });
    }
    let mut replacement = vec![Op::Delete { path: path.clone(), version: Some(stat.version) }];
    replacement.extend(fresh);
    match session.multi(&replacement).await {
        Ok(results) => Ok(epoch_of(&results)),
        Err(MultiError::Operation { .. }) => Ok(Attempt::Again),
        Err(error) => Err(error.into()),
    }
}

/// The node is created empty and then written, so that its data version is 1 from the start and its stat is answered.
fn creation(path: &str, data: &[u8]) -> Vec<Op> {
    vec![
        Op::Create { path: path.to_owned(), data: Vec::new(), mode: CreateMode::Ephemeral },
        Op::Set { path: path.to_owned(), data: data.to_vec(), version: Some(0) },
    ]
}

fn epoch_of(results: &[OpResult]) -> Attempt {
    match results.last() {
        Some(OpResult::Stat(stat)) => Attempt::Registered(BrokerEpoch(stat.czxid)),
        // A server that answers a write without its stat: read the node.
        _ => Attempt::Again,
    }
}

/// Waits until the broker's node is gone; false when it outlives the deadline.
async fn gone_before(
    session: &Handle,
    broker: BrokerId,
    deadline: tokio::time::Instant,
) -> Result<bool, Error> {
    let path = broker::path(broker);
    loop {
        let (present, watched) = session.data_watched(&path).await?;
        if present.is_none() {
            return Ok(true);
        }
        match tokio::time::timeout_at(deadline, watched.changed()).await {
            Ok(WatchEnd::Changed) => {}
            Ok(WatchEnd::SessionOver) => return Err(Error::SessionExpired),
            Err(_elapsed) => return Ok(false),
        }
    }
}

/// Refuses an address that another living broker advertises.
async fn check_endpoints(
    session: &Handle,
    broker: BrokerId,
    registration: &Registration,
) -> Result<(), Error> {
    for (other, present) in live_brokers(session).await? {
        if other == broker {
            continue;
        }
        for endpoint in &registration.endpoints {
            let same = |it: &broker::Endpoint| it.host == endpoint.host && it.port == endpoint.port;
            if present.endpoints.iter().any(same) {
                return Err(Error::EndpointInUse { broker, other, address: endpoint.address() });
            }
        }
    }
    Ok(())
}

/// Reads the registrations of all living brokers; one that cannot be read is left out with a warning.
///
/// # Errors
/// When the session is over.
pub async fn live_brokers(session: &Handle) -> Result<Vec<(BrokerId, Registration)>, Error> {
    let ids = session.children(broker::ROOT).await?;
    let ids: Vec<BrokerId> = ids.iter().filter_map(|id| id.parse().ok().map(BrokerId)).collect();
    let reads = ids.iter().map(|id| async move { (*id, session.get(&broker::path(*id)).await) });
    let mut brokers = Vec::with_capacity(ids.len());
    for (id, read) in futures::future::join_all(reads).await {
        let Some((data, _)) = read? else { continue };
        match Registration::decode(id, &data) {
            Ok(registration) => brokers.push((id, registration)),
            Err(error) => tracing::warn!(%error, "a broker's registration makes no sense"),
        }
    }
    brokers.sort_by_key(|(id, _)| *id);
    Ok(brokers)
}

fn advertised(broker: BrokerId, data: &[u8]) -> String {
    let registration = Registration::decode(broker, data).ok();
    let endpoint = registration.as_ref().and_then(|it| it.endpoints.first());
    endpoint.map_or_else(|| "an unknown address".to_owned(), broker::Endpoint::address)
}
