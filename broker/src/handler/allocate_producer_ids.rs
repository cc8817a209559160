//! AllocateProducerIds: the controller gives a broker of the cluster a block of producer ids.
//!
//! Ottla's own brokers take their blocks from ZooKeeper themselves; Apache Kafka's ask the controller.

use std::sync::Arc;

use ottla_protocol::message::{AllocateProducerIdsRequest, AllocateProducerIdsResponse, ErrorCode};

use super::api::Api;
use super::call::Call;
use crate::coordinator::producer_ids::take_block;
use crate::types::BrokerId;
use crate::zk::layout::broker;
use crate::zk::layout::producer_ids::{BLOCK_SIZE, ProducerIdBlock};

pub(super) fn handle(api: &Arc<Api>, call: Call<AllocateProducerIdsRequest>) {
    let Call { body, reply, .. } = call;
    if !api.controller.is_active() {
        reply.send(&failed(ErrorCode::NotController));
        return;
    }
    let task = Arc::clone(api);
    api.spawn(async move {
        let response = match allocate(&task, &body).await {
            Ok(block) => AllocateProducerIdsResponse {
                producer_id_start: block.first,
                producer_id_len: i32::try_from(BLOCK_SIZE).unwrap_or(i32::MAX),
                ..AllocateProducerIdsResponse::default()
            },
            Err(error) => failed(error),
        };
        reply.send(&response);
    });
}

async fn allocate(api: &Api, request: &AllocateProducerIdsRequest) -> Result<ProducerIdBlock, ErrorCode> {
    let asking = BrokerId(request.broker_id);
    let session = api.zk.session();
    let unknown = |error: &dyn std::fmt::Display| {
        tracing::warn!(%asking, %error, "no block of producer ids for a broker");
        ErrorCode::UnknownServerError
    };
    let registered = session.stat(&broker::path(asking)).await.map_err(|error| unknown(&error))?;
    // The epoch of a broker is the transaction that registered it.
    match registered {
        None => Err(ErrorCode::BrokerIdNotRegistered),
        Some(stat) if stat.czxid != request.broker_epoch => Err(ErrorCode::StaleBrokerEpoch),
        Some(_) => take_block(&session, asking).await.map_err(|error| unknown(&error)),
    }
}

fn failed(error: ErrorCode) -> AllocateProducerIdsResponse {
    AllocateProducerIdsResponse { error_code: error.code(), ..AllocateProducerIdsResponse::default() }
}
