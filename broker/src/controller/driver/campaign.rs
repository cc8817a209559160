//! Becoming controller: two nodes written at once.

use std::time::Duration;

use crate::controller::machine::Campaign;
use crate::types::{BrokerId, ControllerEpoch, Millis};
use crate::zk::layout::controller::{self, EPOCH_PATH, PATH};
use crate::zk::session::{CreateMode, Error, Handle, MultiError, Op, OpResult};

/// The rest after a failure, so that a broken ensemble is not asked without pause.
const FAILURE_PAUSE: Duration = Duration::from_millis(100);

/// Tries to become controller.
pub(super) async fn campaign(session: &Handle, me: BrokerId, now: Millis) -> Campaign {
    match attempt(session, me, now).await {
        Ok(campaign) => campaign,
        Err(error) => {
            tracing::warn!(%error, "the election of a controller failed");
            tokio::time::sleep(FAILURE_PAUSE).await;
            Campaign::Failed
        }
    }
}

async fn attempt(session: &Handle, me: BrokerId, now: Millis) -> Result<Campaign, Error> {
    let (stored, version) = read_epoch(session).await?;
    let tried = ControllerEpoch(stored.0.saturating_add(1));
    let ops = [
        Op::Create { path: PATH.to_owned(), data: controller::encode(me, now), mode: CreateMode::Ephemeral },
        Op::Set {
            path: EPOCH_PATH.to_owned(),
            data: controller::encode_epoch(tried),
            version: Some(version),
        },
    ];
    match session.multi(&ops).await {
        Ok(results) => {
            let epoch_version = match results.last() {
                Some(OpResult::Stat(stat)) => stat.version,
                Some(OpResult::Done) | None => version.saturating_add(1),
            };
            Ok(Campaign::Won { epoch: tried, epoch_version })
        }
        Err(MultiError::Operation {
            source: Error::NodeExists { .. } | Error::BadVersion { .. } | Error::NoNode { .. },
            ..
        }) => {
            let controller = read_controller(session).await?;
            let (epoch, epoch_version) = read_epoch(session).await?;
            Ok(Campaign::Refused { controller, tried, epoch, epoch_version })
        }
        Err(error) => Err(error.into()),
    }
}

/// Reads the epoch and its node's version, creating the node when it is missing.
async fn read_epoch(session: &Handle) -> Result<(ControllerEpoch, i32), Error> {
    loop {
        if let Some((data, stat)) = session.get(EPOCH_PATH).await? {
            return Ok((controller::decode_epoch(&data)?, stat.version));
        }
        let zero = controller::encode_epoch(ControllerEpoch(0));
        match session.create(EPOCH_PATH, &zero, CreateMode::Persistent).await {
            Ok(_) | Err(Error::NodeExists { .. }) => {}
            Err(error) => return Err(error),
        }
    }
}

async fn read_controller(session: &Handle) -> Result<Option<BrokerId>, Error> {
    match session.get(PATH).await? {
        Some((data, _)) => Ok(Some(controller::decode(&data)?)),
        None => Ok(None),
    }
}

/// Gives the office up, unless another controller was elected meanwhile.
pub(super) async fn abdicate(session: &Handle, epoch_version: i32) {
    let ops = [
        Op::Check { path: EPOCH_PATH.to_owned(), version: epoch_version },
        Op::Delete { path: PATH.to_owned(), version: None },
    ];
    match session.multi(&ops).await {
        Ok(_)
        | Err(MultiError::Operation { source: Error::BadVersion { .. } | Error::NoNode { .. }, .. }) => {}
        Err(error) => {
            tracing::warn!(%error, "the controller's node was not deleted; it goes with the session")
        }
    }
}
