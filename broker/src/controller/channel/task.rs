//! Sends what waits for one broker.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::encode::{self, LEADER_AND_ISR_VERSION, STOP_REPLICA_VERSION, Sender, UPDATE_METADATA_VERSION};
use super::queue::{Addressed, CommandQueue, Next};
use crate::client::{ConnectOptions, Connection, Error};
use crate::controller::machine::{ClusterEvent, Command};
use crate::types::{BrokerEpoch, BrokerId, ControllerEpoch};

/// The rest before a command is sent again.
const RETRY_AFTER: Duration = Duration::from_millis(100);
/// So many failures in a row are said only once.
const QUIET_AFTER: u32 = 1;

/// The open channel to a broker; it closes when this is dropped.
#[derive(Debug)]
pub(in crate::controller) struct Channel {
    queue: Arc<CommandQueue>,
    task: AbortHandle,
}

/// To whom a channel leads, and who speaks.
#[derive(Debug, Clone)]
pub(in crate::controller) struct ChannelEnds {
    pub(in crate::controller) controller: BrokerId,
    pub(in crate::controller) epoch: ControllerEpoch,
    pub(in crate::controller) broker: BrokerId,
    /// `host:port` of the listener for brokers.
    pub(in crate::controller) address: String,
    pub(in crate::controller) socket_timeout: Duration,
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Channel {
    /// Opens the channel; what the broker answers goes to `events`.
    pub(in crate::controller) fn open(
        ends: ChannelEnds,
        events: mpsc::Sender<(ControllerEpoch, ClusterEvent)>,
    ) -> Self {
        let queue = Arc::new(CommandQueue::default());
        let task = tokio::spawn(run(ends, Arc::clone(&queue), events)).abort_handle();
        Self { queue, task }
    }

    /// Sends a command after those sent before.
    pub(in crate::controller) fn send(&self, epoch: BrokerEpoch, command: Command) {
        self.queue.push(Addressed { epoch, command });
    }
}

async fn run(
    ends: ChannelEnds,
    queue: Arc<CommandQueue>,
    events: mpsc::Sender<(ControllerEpoch, ClusterEvent)>,
) {
    let mut connection = None;
    loop {
        let event = match queue.next().await {
            Next::Overflowed => {
                tracing::warn!(broker = %ends.broker, "too many commands waited for the broker; telling it everything");
                Some(ClusterEvent::ChannelOverflowed(ends.broker))
            }
            Next::Command(command) => deliver(&ends, &mut connection, &command).await,
        };
        if let Some(event) = event
            && events.send((ends.epoch, event)).await.is_err()
        {
            return;
        }
    }
}

/// Sends a command until it is answered.
async fn deliver(
    ends: &ChannelEnds,
    connection: &mut Option<Connection>,
    command: &Addressed,
) -> Option<ClusterEvent> {
    let mut failures = 0;
    loop {
        match attempt(ends, connection, command).await {
            Ok(event) => return event,
            Err(error) => {
                *connection = None;
                failures += 1;
                if failures == QUIET_AFTER {
                    tracing::warn!(broker = %ends.broker, %error, command = ?command.command, "a command is not answered");
                }
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }
}

async fn attempt(
    ends: &ChannelEnds,
    connection: &mut Option<Connection>,
    addressed: &Addressed,
) -> Result<Option<ClusterEvent>, Error> {
    let connection = match connection {
        Some(connection) => connection,
        None => {
            let options = ConnectOptions {
                client_id: ends.controller.to_string(),
                connect_timeout: ends.socket_timeout.min(Duration::from_secs(10)),
                request_timeout: ends.socket_timeout,
                ..ConnectOptions::default()
            };
            connection.insert(Connection::connect(&ends.address, options).await?)
        }
    };
    let sender = Sender { controller: ends.controller, epoch: ends.epoch, addressee: addressed.epoch };
    Ok(match &addressed.command {
        Command::LeaderAndIsr { partitions, leaders } => {
            let request = encode::leader_and_isr(sender, partitions, leaders);
            let response = connection.call(&request, LEADER_AND_ISR_VERSION).await?;
            refused(ends, response.error_code, &addressed.command);
            let errors = encode::leader_and_isr_errors(partitions, &response);
            (!errors.is_empty()).then_some(ClusterEvent::LeaderAndIsrAnswered(ends.broker, errors))
        }
        Command::UpdateMetadata { partitions, brokers } => {
            let request = encode::update_metadata(sender, partitions, brokers);
            let response = connection.call(&request, UPDATE_METADATA_VERSION).await?;
            refused(ends, response.error_code, &addressed.command);
            None
        }
        Command::StopReplica { partitions } => {
            let request = encode::stop_replica(sender, partitions);
            let response = connection.call(&request, STOP_REPLICA_VERSION).await?;
            refused(ends, response.error_code, &addressed.command);
            let deletions = encode::deletions(partitions, &response);
            (!deletions.is_empty()).then_some(ClusterEvent::StopReplicaAnswered(ends.broker, deletions))
        }
    })
}

/// A refusal as a whole is never sent again: the broker knows a later controller, or a later registration of its own.
fn refused(ends: &ChannelEnds, code: i16, command: &Command) {
    if code != 0 {
        let error = ottla_protocol::message::ErrorCode::from_code(code);
        tracing::warn!(broker = %ends.broker, error = error.name(), ?command, "the broker refused a command");
    }
}
