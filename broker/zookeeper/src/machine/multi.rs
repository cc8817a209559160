//! Several operations in one request: writes as one transaction, or reads.

use super::reply::Caller;
use super::step::{Effect, Machine};
use crate::jute::{
    CreateKind, ErrorCode, Multi, ReadOperation, Reply, WriteOperation, Writer, op, write_multi_end,
    write_multi_error, write_multi_header,
};
use crate::state::Body;
use crate::tree::{Applied, Change, Draft};
use crate::types::{Now, Zxid};

/// What the first failing operation makes of a transaction.
struct Failure {
    index: usize,
    error: ErrorCode,
}

impl Machine {
    /// All or nothing, under one zxid either way. The header of the reply is without error even when nothing was done;
    /// the items tell.
    pub(super) fn multi(
        &mut self,
        now: Now,
        caller: Caller,
        operations: &Multi<WriteOperation<'_>>,
        out: &mut Vec<Effect>,
    ) {
        let decided = self.decide_all(caller, &operations.0);
        let mut writer = Writer::new();
        let zxid = match decided {
            Ok(changes) => {
                let (zxid, applied) = self.commit(now, Body::Changes(changes), out);
                write_results(&operations.0, &applied, &mut writer);
                zxid
            }
            Err(failure) => {
                write_failure(operations.0.len(), &failure, &mut writer);
                self.commit(now, Body::Changes(Vec::new()), out).0
            }
        };
        write_multi_end(&mut writer);
        self.reply(caller, Ok(Reply::Encoded(writer.as_bytes())), zxid, out);
    }

    fn decide_all(&self, caller: Caller, operations: &[WriteOperation<'_>]) -> Result<Vec<Change>, Failure> {
        let identities = self.identities(caller.connection);
        let mut draft = Draft::new(&self.state.tree);
        let mut changes = Vec::with_capacity(operations.len());
        for (index, operation) in operations.iter().enumerate() {
            let decided = match operation {
                WriteOperation::Create(create) => draft.create(create, caller.session, identities).map(Some),
                WriteOperation::Delete { path, version } => {
                    draft.delete(path, *version, identities).map(Some)
                }
                WriteOperation::SetData { path, data, version } => {
                    draft.set_data(path, *data, *version, identities).map(Some)
                }
                WriteOperation::Check { path, version } => {
                    draft.check(path, *version, identities).map(|()| None)
                }
            };
            changes.extend(decided.map_err(|error| Failure { index, error })?);
        }
        Ok(changes)
    }

    pub(super) fn multi_read(
        &mut self,
        caller: Caller,
        operations: &Multi<ReadOperation<'_>>,
        out: &mut Vec<Effect>,
    ) {
        let mut writer = Writer::new();
        let mut after = Zxid::ZERO;
        for operation in &operations.0 {
            let (code, path) = match operation {
                ReadOperation::GetData { path } => (op::GET_DATA, path),
                ReadOperation::GetChildren { path } => (op::GET_CHILDREN, path),
            };
            after = after.max(self.state.tree.touched(path));
            match self.readable(caller.connection, path) {
                Ok(node) => {
                    write_multi_header(code, &mut writer);
                    let children: Vec<&str>;
                    let reply = if code == op::GET_DATA {
                        Reply::Data(node.data.as_deref(), node.stat())
                    } else {
                        children = node.children().collect();
                        Reply::Children(&children)
                    };
                    reply.encode(&mut writer);
                }
                Err(error) => write_multi_error(Some(error), &mut writer),
            }
        }
        write_multi_end(&mut writer);
        self.reply(caller, Ok(Reply::Encoded(writer.as_bytes())), after, out);
    }
}

fn write_results(operations: &[WriteOperation<'_>], applied: &[Applied], writer: &mut Writer) {
    let mut applied = applied.iter();
    for operation in operations {
        match operation {
            WriteOperation::Check { .. } => write_multi_header(op::CHECK, writer),
            WriteOperation::Create(create) => {
                let applied = applied.next().expect("every operation but a check is a change");
                // All creations that answer with a stat do so as create2.
                let plain = create.kind == CreateKind::Create;
                write_multi_header(if plain { op::CREATE } else { op::CREATE2 }, writer);
                let reply = if plain {
                    Reply::Path(&applied.path)
                } else {
                    Reply::PathAndStat(&applied.path, applied.stat)
                };
                reply.encode(writer);
            }
            WriteOperation::Delete { .. } => {
                applied.next().expect("every operation but a check is a change");
                write_multi_header(op::DELETE, writer);
            }
            WriteOperation::SetData { .. } => {
                let applied = applied.next().expect("every operation but a check is a change");
                write_multi_header(op::SET_DATA, writer);
                Reply::Stat(applied.stat).encode(writer);
            }
        }
    }
}

/// Items before the one that failed have code 0, those after it [`ErrorCode::RuntimeInconsistency`].
fn write_failure(count: usize, failure: &Failure, writer: &mut Writer) {
    for index in 0..count {
        let error = match index.cmp(&failure.index) {
            std::cmp::Ordering::Less => None,
            std::cmp::Ordering::Equal => Some(failure.error),
            std::cmp::Ordering::Greater => Some(ErrorCode::RuntimeInconsistency),
        };
        write_multi_error(error, writer);
    }
}
