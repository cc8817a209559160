//! How a session lives, ends and is followed by another.

use std::time::Duration;

use ottla_broker::zk::session::{CreateMode, MultiError, Op, SessionEvent, WatchEnd};
use ottla_broker::zk::{Error, Zk, ZkOptions};

use crate::servers::{close_session, connect, on_every_server};

#[test]
fn nodes_below_the_chroot_are_created_read_written_and_deleted() {
    on_every_server("nodes", async |address| {
        let zk = connect(&address).await;
        let session = zk.session();
        assert_eq!(session.get("/a").await.unwrap(), None);
        session.create("/a", b"1", CreateMode::Persistent).await.unwrap();
        assert!(matches!(
            session.create("/a", b"1", CreateMode::Persistent).await,
            Err(Error::NodeExists { .. })
        ));
        let stat = session.set("/a", b"2", Some(0)).await.unwrap();
        assert_eq!(stat.version, 1);
        assert!(matches!(session.set("/a", b"3", Some(0)).await, Err(Error::BadVersion { .. })));
        assert_eq!(session.get("/a").await.unwrap().unwrap().0, b"2");
        session.create_recursive("/x/y/z", b"deep").await.unwrap();
        assert_eq!(session.tree("/x").await.unwrap(), ["/x", "/x/y", "/x/y/z"]);
        let named = session.create("/a/n_", b"", CreateMode::PersistentSequential).await.unwrap();
        assert_eq!(named, "/a/n_0000000000");
        session.delete("/a/n_0000000000", None).await.unwrap();
        assert!(matches!(session.delete("/a", Some(9)).await, Err(Error::BadVersion { .. })));
        session.delete("/a", Some(1)).await.unwrap();
        zk.close().await;
        assert!(matches!(session.get("/x").await, Err(Error::Closed)));
    });
}

#[test]
fn a_multi_happens_as_a_whole_or_names_what_failed() {
    on_every_server("multi", async |address| {
        let zk = connect(&address).await;
        let session = zk.session();
        let path = |path: &str| path.to_owned();
        session.create("/fence", b"", CreateMode::Persistent).await.unwrap();
        let ops = |fence| {
            vec![
                Op::Check { path: path("/fence"), version: fence },
                Op::Create { path: path("/made"), data: b"x".to_vec(), mode: CreateMode::Persistent },
                Op::Set { path: path("/made"), data: b"y".to_vec(), version: Some(0) },
            ]
        };
        match session.multi(&ops(7)).await {
            Err(MultiError::Operation { index: 0, source: Error::BadVersion { .. }, .. }) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(session.stat("/made").await.unwrap(), None);
        session.multi(&ops(0)).await.unwrap();
        match session.multi(&ops(0)).await {
            Err(MultiError::Operation { index: 1, source: Error::NodeExists { .. }, .. }) => {}
            other => panic!("{other:?}"),
        }
        zk.close().await;
    });
}

#[test]
fn a_watch_tells_of_children_data_and_existence() {
    on_every_server("watch", async |address| {
        let zk = connect(&address).await;
        let session = zk.session();
        session.create("/p", b"", CreateMode::Persistent).await.unwrap();
        let (children, watched) = session.children_watched("/p").await.unwrap();
        assert!(children.is_empty());
        session.create("/p/c", b"", CreateMode::Persistent).await.unwrap();
        assert_eq!(watched.changed().await, WatchEnd::Changed);

        let (data, watched) = session.data_watched("/later").await.unwrap();
        assert!(data.is_none());
        session.create("/later", b"1", CreateMode::Persistent).await.unwrap();
        assert_eq!(watched.changed().await, WatchEnd::Changed);
        let (data, watched) = session.data_watched("/later").await.unwrap();
        assert_eq!(data.unwrap().0, b"1");
        session.set("/later", b"2", None).await.unwrap();
        assert_eq!(watched.changed().await, WatchEnd::Changed);
        let (_, watched) = session.data_watched("/later").await.unwrap();
        session.delete("/later", None).await.unwrap();
        assert_eq!(watched.changed().await, WatchEnd::Changed);
        zk.close().await;
    });
}

#[test]
fn a_session_closed_from_outside_expires_and_is_followed_by_another() {
    on_every_server("expiry", async |address| {
        let zk = connect(&address).await;
        let mut events = zk.subscribe();
        let first = zk.session();
        assert_eq!(first.identity().password.len(), 16);
        first.create("/mine", b"", CreateMode::Ephemeral).await.unwrap();
        let (_, watched) = first.data_watched("/mine").await.unwrap();
        close_session(&address, first.identity());
        let mut heard = Vec::new();
        while heard.last() != Some(&SessionEvent::NewSession) {
            heard.push(tokio::time::timeout(Duration::from_secs(30), events.next()).await.unwrap());
        }
        // The client may have got its session back for a moment before it was closed.
        heard.retain(|event| !matches!(event, SessionEvent::Disconnected | SessionEvent::Connected));
        assert_eq!(heard, [SessionEvent::Expired, SessionEvent::NewSession]);
        // The deletion may be told before the session's end.
        let _either = watched.changed().await;
        let second = zk.session();
        assert_eq!(second.generation(), first.generation() + 1);
        assert_ne!(second.identity(), first.identity());
        assert!(zk.had_session(first.identity().session_id));
        assert!(matches!(first.get("/mine").await, Err(Error::SessionExpired)));
        assert_eq!(second.get("/mine").await.unwrap(), None);
        zk.close().await;
        assert_eq!(events.next().await, SessionEvent::Closed);
    });
}

#[test]
fn closing_removes_ephemeral_nodes_at_once() {
    on_every_server("closing", async |address| {
        let zk = connect(&address).await;
        zk.session().create("/mine", b"", CreateMode::Ephemeral).await.unwrap();
        let other = connect(&address).await;
        let (present, watched) = other.session().data_watched("/mine").await.unwrap();
        assert!(present.is_some());
        zk.close().await;
        watched.changed().await;
        assert_eq!(other.session().get("/mine").await.unwrap(), None);
        other.close().await;
    });
}

#[test]
fn a_session_outlives_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let start = |port: Option<u16>| {
        let builder = ottla_zookeeper::Server::builder().data_dir(folder.path());
        port.map_or_else(|| builder.clone().ephemeral_port(), |port| builder.clone().port(port))
            .start()
            .unwrap()
    };
    let server = start(None);
    let port = server.local_addr().port();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let zk = connect(&format!("127.0.0.1:{port}")).await;
        let mut events = zk.subscribe();
        let session = zk.session();
        session.create("/mine", b"", CreateMode::Ephemeral).await.unwrap();
        let (_, watched) = session.data_watched("/later").await.unwrap();
        tokio::task::spawn_blocking(|| server.stop().unwrap()).await.unwrap();
        assert_eq!(events.next().await, SessionEvent::Disconnected);
        // Sent while nobody is there, and answered all the same.
        let writing = tokio::spawn({
            let session = session.clone();
            async move { session.create("/later", b"", CreateMode::Persistent).await }
        });
        let again = start(Some(port));
        writing.await.unwrap().unwrap();
        assert_eq!(watched.changed().await, WatchEnd::Changed);
        assert!(session.get("/mine").await.unwrap().is_some(), "the session is the same");
        assert_eq!(zk.session().generation(), session.generation());
        zk.close().await;
        tokio::task::spawn_blocking(|| again.stop().unwrap()).await.unwrap();
    });
}

#[tokio::test]
async fn an_unreachable_server_is_named_with_the_reason() {
    // The port is free as long as nobody else takes it in between.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut options = ZkOptions::new(format!("127.0.0.1:{port}/kafka").parse().unwrap());
    options.connection_timeout = Duration::from_millis(300);
    let error = Zk::connect(options).await.unwrap_err().to_string();
    assert!(error.contains(&format!("ZooKeeper at 127.0.0.1:{port}/kafka does not answer")), "{error}");
    assert!(error.contains("refused"), "{error}");
}

#[tokio::test]
async fn a_server_of_another_kind_is_said_to_be_one() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let http = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let answer = [b'H'; 200];
            let _sent = tokio::io::AsyncWriteExt::write_all(&mut stream, &answer).await;
        }
    });
    let mut options = ZkOptions::new(format!("127.0.0.1:{port}").parse().unwrap());
    options.connection_timeout = Duration::from_millis(500);
    let error = Zk::connect(options).await.unwrap_err().to_string();
    assert!(error.contains("does not speak ZooKeeper's protocol"), "{error}");
    http.abort();
}
