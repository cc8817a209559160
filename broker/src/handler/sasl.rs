//! SaslHandshake and SaslAuthenticate on a listener that does not authenticate: both come at the wrong time.

use std::sync::Arc;

use ottla_protocol::message::{
    ErrorCode, SaslAuthenticateRequest, SaslAuthenticateResponse, SaslHandshakeRequest, SaslHandshakeResponse,
};

use super::api::Api;
use super::call::Call;

pub(super) fn handshake(_: &Arc<Api>, call: Call<SaslHandshakeRequest>) {
    let error_code = ErrorCode::IllegalSaslState.code();
    call.reply.send(&SaslHandshakeResponse { error_code, ..SaslHandshakeResponse::default() });
}

pub(super) fn authenticate(_: &Arc<Api>, call: Call<SaslAuthenticateRequest>) {
    call.reply.send(&SaslAuthenticateResponse {
        error_code: ErrorCode::IllegalSaslState.code(),
        error_message: Some("this listener does not authenticate".to_owned()),
        ..SaslAuthenticateResponse::default()
    });
}
