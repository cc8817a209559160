//! What a group may use while it takes a step: the time, the settings, member ids, appends, and the effects so far.

use super::appends::Appends;
use super::config::Config;
use super::effect::{After, Effect, Report};
use super::member_ids::MemberIds;
use super::names::RequestId;
use super::reply::Reply;
use super::time::Now;

/// Everything outside a group that a step may touch.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) now: Now,
    pub(super) config: &'a Config,
    pub(super) member_ids: &'a mut MemberIds,
    pub(super) appends: &'a mut Appends,
    pub(super) out: &'a mut Vec<Effect>,
}

impl Context<'_> {
    /// Answers a request that changed nothing durable.
    pub(super) fn reply(&mut self, to: RequestId, reply: Reply) {
        self.reply_after(to, reply, After::Nothing);
    }

    /// Answers a request.
    pub(super) fn reply_after(&mut self, to: RequestId, reply: Reply, after: After) {
        self.out.push(Effect::Reply { to, reply, after });
    }

    /// Reports something for the log.
    pub(super) fn report(&mut self, report: Report) {
        self.out.push(Effect::Report(report));
    }
}
