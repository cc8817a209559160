//! Leaving in good order: the controller moves this broker's leaderships away before it stops.

use std::time::Duration;

use ottla_protocol::message::{ControlledShutdownRequest, ErrorCode};

use crate::client::{self, ConnectOptions, Connection};
use crate::config::BrokerConfig;
use crate::types::{BrokerEpoch, BrokerId};
use crate::zk::layout::{broker, controller};
use crate::zk::session::Handle;
use crate::zk::{self, registration};

/// The version that brokers of this generation command each other in.
const VERSION: i16 = 3;
/// How often, between two tries, it is looked whether anybody is left to take over.
const LOOK: Duration = Duration::from_millis(200);

/// Why one try did not hand everything over.
#[derive(Debug, thiserror::Error)]
enum NotYet {
    #[error(transparent)]
    Zookeeper(#[from] zk::Error),
    #[error(transparent)]
    Client(#[from] client::Error),
    #[error("there is no controller that can be reached")]
    NoController,
    #[error("the controller answered {}", .0.name())]
    Refused(ErrorCode),
    #[error("{0} partitions have no other replica in sync")]
    Remaining(usize),
}

/// Asks the controller to move the leaderships away, as often as the configuration says. Whatever comes of it, the
/// broker stops afterwards.
pub(crate) async fn leave(session: &Handle, broker: BrokerId, epoch: BrokerEpoch, config: &BrokerConfig) {
    let pause =
        Duration::from_millis(u64::try_from(config.controlled_shutdown_retry_backoff_ms).unwrap_or(0));
    for tries_left in (0..config.controlled_shutdown_max_retries).rev() {
        if is_alone(session, broker).await {
            tracing::info!("nobody is left to take over");
            return;
        }
        match ask(session, broker, epoch, config).await {
            Ok(()) => {
                tracing::info!("all leaderships were handed over");
                return;
            }
            Err(error) if tries_left == 0 => {
                tracing::warn!(%error, "stopping without having handed over everything");
            }
            Err(error) => {
                tracing::info!(%error, tries_left, "leaderships remain; trying again");
                pause_while_accompanied(session, broker, pause).await;
            }
        }
    }
}

async fn ask(
    session: &Handle,
    broker: BrokerId,
    epoch: BrokerEpoch,
    config: &BrokerConfig,
) -> Result<(), NotYet> {
    let address = controller_address(session, config).await?.ok_or(NotYet::NoController)?;
    let timeout = Duration::from_millis(u64::try_from(config.controller_socket_timeout_ms).unwrap_or(0));
    let options = ConnectOptions {
        client_id: broker.to_string(),
        connect_timeout: timeout,
        request_timeout: timeout,
        ..ConnectOptions::default()
    };
    let mut connection = Connection::connect(&address, options).await?;
    let request = ControlledShutdownRequest {
        broker_id: broker.0,
        broker_epoch: epoch.0,
        ..ControlledShutdownRequest::default()
    };
    let response = connection.call(&request, VERSION).await?;
    match (ErrorCode::from_code(response.error_code), response.remaining_partitions.len()) {
        (ErrorCode::None, 0) => Ok(()),
        (ErrorCode::None, remaining) => Err(NotYet::Remaining(remaining)),
        (error, _) => Err(NotYet::Refused(error)),
    }
}

async fn controller_address(session: &Handle, config: &BrokerConfig) -> Result<Option<String>, zk::Error> {
    let Some((data, _)) = session.get(controller::PATH).await? else { return Ok(None) };
    let id = controller::decode(&data)?;
    let Some((data, _)) = session.get(&broker::path(id)).await? else { return Ok(None) };
    let registration = broker::Registration::decode(id, &data)?;
    let listener = config.inter_broker_listener().unwrap_or_default();
    Ok(registration.endpoint(listener).map(broker::Endpoint::address))
}

async fn is_alone(session: &Handle, broker: BrokerId) -> bool {
    let live = registration::live_brokers(session).await;
    live.is_ok_and(|brokers| brokers.iter().all(|(id, _)| *id == broker))
}

async fn pause_while_accompanied(session: &Handle, broker: BrokerId, pause: Duration) {
    let until = tokio::time::Instant::now() + pause;
    while tokio::time::Instant::now() < until && !is_alone(session, broker).await {
        tokio::time::sleep(LOOK.min(pause)).await;
    }
}
