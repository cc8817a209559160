//! UpdateMetadata: the controller describes the cluster.

use std::sync::Arc;

use ottla_protocol::message::{ErrorCode, UpdateMetadataRequest, UpdateMetadataResponse};

use super::api::Api;
use super::call::Call;

pub(super) fn handle(api: &Arc<Api>, call: Call<UpdateMetadataRequest>) {
    let error = match api.replicas.update_metadata(&call.body) {
        Ok(applied) => {
            api.groups.partitions_deleted(&applied.deleted);
            ErrorCode::None
        }
        Err(error) => error,
    };
    call.reply
        .send(&UpdateMetadataResponse { error_code: error.code(), ..UpdateMetadataResponse::default() });
}
