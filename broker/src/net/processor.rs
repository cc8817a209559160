//! A processor: one thread that owns its connections, reads their requests and sends their responses.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::net::TcpStream;
use tokio::runtime;
use tokio::task::LocalSet;

use super::connection::{Pending, Shared, serve};
use super::mailbox::{Accepted, Contents, Mailbox};
use crate::metrics::IdleMeter;

/// A running processor.
#[derive(Debug)]
pub(crate) struct Processor {
    pub(crate) number: usize,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) idle: Arc<IdleMeter>,
    thread: Option<JoinHandle<()>>,
}

impl Processor {
    /// Starts the thread.
    pub(crate) fn start(number: usize, shared: Shared) -> std::io::Result<Self> {
        let mailbox = Arc::clone(&shared.mailbox);
        let idle = Arc::new(IdleMeter::default());
        let (parked, unparked) = (Arc::clone(&idle), Arc::clone(&idle));
        let runtime = runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .on_thread_park(move || parked.sleep())
            .on_thread_unpark(move || unparked.wake())
            .build()?;
        let thread = std::thread::Builder::new()
            .name(format!("processor-{number}"))
            .spawn(move || LocalSet::new().block_on(&runtime, run(number, Rc::new(shared))))?;
        Ok(Self { number, mailbox, idle, thread: Some(thread) })
    }

    /// Closes all connections and ends the thread.
    pub(crate) fn stop(&mut self) {
        self.mailbox.stop();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!(processor = self.number, "a processor ended by a panic");
        }
    }
}

impl Drop for Processor {
    fn drop(&mut self) {
        self.stop();
    }
}

type Connections = Rc<RefCell<HashMap<u64, Rc<Pending>>>>;

/// Empties the mailbox until it is told to stop; connections are tasks beside it and end with it.
async fn run(number: usize, shared: Rc<Shared>) {
    let connections = Connections::default();
    let mut contents = Contents::default();
    loop {
        shared.mailbox.take(&mut contents).await;
        for outgoing in contents.responses.drain(..) {
            let pending = connections.borrow().get(&outgoing.connection).map(Rc::clone);
            // A connection that is gone needs no response.
            if let Some(pending) = pending {
                pending.deliver(outgoing);
            }
        }
        for accepted in contents.accepted.drain(..) {
            open(number, accepted, &shared, &connections);
        }
        if contents.stop {
            return;
        }
    }
}

fn open(number: usize, accepted: Accepted, shared: &Rc<Shared>, connections: &Connections) {
    let Accepted { stream, info, place } = accepted;
    let stream = match TcpStream::from_std(stream) {
        Ok(stream) => stream,
        Err(error) => {
            tracing::warn!(peer = %info.peer, %error, "cannot watch a new connection");
            return;
        }
    };
    let pending = Rc::new(Pending::default());
    connections.borrow_mut().insert(info.id, Rc::clone(&pending));
    let (shared, connections) = (Rc::clone(shared), Rc::clone(connections));
    let open = shared.metrics.connections(&info.listener, number);
    open.add(1);
    tokio::task::spawn_local(async move {
        serve(stream, Arc::clone(&info), &shared, pending).await;
        connections.borrow_mut().remove(&info.id);
        open.add(-1);
        drop(place);
    });
}
