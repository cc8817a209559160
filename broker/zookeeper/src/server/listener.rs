//! Accepts connections.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::spawn_local;

use super::connection::{Connection, SCRATCH_BYTES, Scratch};
use super::driver::Driver;

/// How long accepting pauses when the system has no more file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) async fn accept(listener: TcpListener, driver: Rc<RefCell<Driver>>) {
    let scratch: Scratch = Rc::new(RefCell::new(vec![0; SCRATCH_BYTES]));
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                let Some((id, outbox)) = driver.borrow_mut().connected(address) else {
                    tracing::warn!(%address, "too many connections, refusing one");
                    continue;
                };
                // Replies are small and waited for; a socket that cannot be told so works all the same.
                let _unsupported = stream.set_nodelay(true);
                let (driver, scratch) = (Rc::clone(&driver), Rc::clone(&scratch));
                spawn_local(Connection { id, stream, driver, outbox, scratch }.serve());
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
