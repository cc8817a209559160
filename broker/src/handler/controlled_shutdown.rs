//! ControlledShutdown: a broker asks the controller to move its leaderships away.

use std::sync::Arc;

use ottla_protocol::message::controlled_shutdown::RemainingPartition;
use ottla_protocol::message::{ControlledShutdownRequest, ControlledShutdownResponse, ErrorCode};

use super::api::Api;
use super::call::Call;
use crate::controller::machine::{Reply, Request};
use crate::types::{BrokerEpoch, BrokerId};

pub(super) fn handle(api: &Arc<Api>, call: Call<ControlledShutdownRequest>) {
    let Call { body, reply, .. } = call;
    let request = Request::ControlledShutdown {
        broker: BrokerId(body.broker_id),
        epoch: BrokerEpoch(body.broker_epoch),
    };
    api.controller.ask(request, move |answer| reply.send(&response(answer)));
}

fn response(reply: Reply) -> ControlledShutdownResponse {
    let refused = |error: ErrorCode| ControlledShutdownResponse {
        error_code: error.code(),
        ..ControlledShutdownResponse::default()
    };
    match reply {
        Reply::ControlledShutdown(remaining) => ControlledShutdownResponse {
            remaining_partitions: remaining
                .into_iter()
                .map(|name| RemainingPartition {
                    topic_name: name.topic.to_string(),
                    partition_index: name.partition,
                    ..RemainingPartition::default()
                })
                .collect(),
            ..ControlledShutdownResponse::default()
        },
        // Of a request to another controller this one answers what brokers of every age retry on.
        Reply::Refused(ErrorCode::NotController) => refused(ErrorCode::StaleControllerEpoch),
        Reply::Refused(error) => refused(error),
        _ => refused(ErrorCode::UnknownServerError),
    }
}
