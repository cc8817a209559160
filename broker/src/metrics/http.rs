//! The page of metrics over HTTP: `GET /metrics`, one answer for each connection, everything bounded.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::registry::Metrics;

/// A request's head that is longer is refused.
const MAX_HEAD_BYTES: usize = 8 * 1024;
/// Readers served at the same time; more wait.
const MAX_READERS: usize = 16;
/// A reader that takes longer, to ask or to read, is dropped.
const READER_TIMEOUT: Duration = Duration::from_secs(10);

/// Begins to serve the page at `address`, and returns where it really is and the task that serves it.
///
/// # Errors
/// When the address cannot be bound.
pub async fn serve(metrics: Arc<Metrics>, address: &str) -> io::Result<(SocketAddr, JoinHandle<()>)> {
    let listener = TcpListener::bind(address).await?;
    let bound = listener.local_addr()?;
    let task = tokio::spawn(accept(listener, metrics));
    Ok((bound, task))
}

async fn accept(listener: TcpListener, metrics: Arc<Metrics>) {
    let readers = Arc::new(Semaphore::new(MAX_READERS));
    loop {
        let permit = Arc::clone(&readers).acquire_owned().await;
        match listener.accept().await {
            Ok((stream, _)) => {
                let metrics = Arc::clone(&metrics);
                tokio::spawn(async move {
                    // A reader that goes away or dawdles is its own loss.
                    drop(tokio::time::timeout(READER_TIMEOUT, answer(stream, &metrics)).await);
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a reader of metrics");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn answer(mut stream: TcpStream, metrics: &Metrics) -> io::Result<()> {
    let head = read_head(&mut stream).await?;
    let (status, body) = page_for(&head, metrics);
    let header = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(header.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// Reads up to the empty line that ends a head, or as much as is allowed.
async fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(1024);
    let ended = |head: &[u8]| head.windows(4).any(|window| window == b"\r\n\r\n");
    while head.len() < MAX_HEAD_BYTES && !ended(&head) {
        if stream.read_buf(&mut head).await? == 0 {
            break;
        }
    }
    Ok(head)
}

fn page_for(head: &[u8], metrics: &Metrics) -> (&'static str, String) {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
    match (method, path) {
        (b"GET", b"/metrics") => ("200 OK", metrics.render()),
        (b"GET", _) => ("404 Not Found", "the page is /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "only GET\n".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn the_page_is_at_metrics_and_nothing_else_is() {
        let metrics = Metrics::new();
        metrics.gauge("kafka_b", "Set.", &[]).set(5);
        let (address, task) = serve(metrics, "127.0.0.1:0").await.unwrap();
        let page = ask(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with("kafka_b 5\n"), "{page}");
        assert!(ask(address, "GET / HTTP/1.1\r\n\r\n").await.starts_with("HTTP/1.1 404"));
        assert!(ask(address, "POST /metrics HTTP/1.1\r\n\r\n").await.starts_with("HTTP/1.1 405"));
        task.abort();
    }
}
