//! InitProducerId for producers without transactions: an id nobody else has, with epoch 0.

use std::sync::Arc;

use ottla_protocol::message::{ErrorCode, InitProducerIdRequest, InitProducerIdResponse};

use super::api::Api;
use super::call::{Call, Reply};

pub(super) fn handle(api: &Arc<Api>, call: Call<InitProducerIdRequest>) {
    let Call { body, reply, .. } = call;
    match body.transactional_id.as_deref() {
        None => hand_out(api, reply),
        Some("") => reply.send(&failed(ErrorCode::InvalidRequest)),
        // This broker coordinates no transactions: the producer asks for the coordinator, and is told that there is none.
        Some(_) => reply.send(&failed(ErrorCode::NotCoordinator)),
    }
}

fn hand_out(api: &Arc<Api>, reply: Reply<InitProducerIdRequest>) {
    let (id, is_low) = api.producer_ids.take();
    match id {
        Some(id) => {
            reply.send(&handed_out(id));
            if is_low {
                refill(api, None);
            }
        }
        None => refill(api, Some(reply)),
    }
}

/// Takes another block, and then an id from it for the one who waits.
fn refill(api: &Arc<Api>, waiting: Option<Reply<InitProducerIdRequest>>) {
    let ids = Arc::clone(&api.producer_ids);
    api.spawn(async move {
        if let Err(error) = ids.refill().await {
            tracing::warn!(%error, "no producer ids");
        }
        if let Some(reply) = waiting {
            // The client asks again when others were faster.
            let response =
                ids.take().0.map_or_else(|| failed(ErrorCode::CoordinatorLoadInProgress), handed_out);
            reply.send(&response);
        }
    });
}

fn handed_out(producer_id: i64) -> InitProducerIdResponse {
    InitProducerIdResponse { producer_id, producer_epoch: 0, ..InitProducerIdResponse::default() }
}

fn failed(error: ErrorCode) -> InitProducerIdResponse {
    InitProducerIdResponse {
        error_code: error.code(),
        producer_epoch: -1,
        ..InitProducerIdResponse::default()
    }
}
