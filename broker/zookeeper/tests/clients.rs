//! Clients that nobody here wrote, against a server in this process: the `zookeeper-client` crate, and when they are
//! installed kazoo (Python) and Apache's own command line.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a failed step is a failed test"
)]

mod foreign;
mod wire;

use std::time::{Duration, Instant};

use ottla_zookeeper::Server;
use wire::Wire;
use zookeeper_client::{
    Acl, Acls, AddWatchMode, AuthId, Client, CreateMode, CreateOptions, Error, EventType, LockOptions,
    LockPrefix, MultiReadResult, MultiWriteError, MultiWriteResult, Permission,
};

const OPEN: CreateOptions<'static> = CreateMode::Persistent.with_acls(Acls::anyone_all());
const EPHEMERAL: CreateOptions<'static> = CreateMode::Ephemeral.with_acls(Acls::anyone_all());
const PATIENCE: Duration = Duration::from_secs(20);

fn server() -> Server {
    Server::builder().in_memory().ephemeral_port().start().unwrap()
}

/// A server whose sessions may be short.
fn brisk_server() -> Server {
    Server::builder().in_memory().ephemeral_port().tick_time(Duration::from_millis(50)).start().unwrap()
}

async fn client(server: &Server) -> Client {
    Client::connect(&server.local_addr().to_string()).await.unwrap()
}

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .unwrap_or_else(|_| panic!("{what} took longer than {PATIENCE:?}"))
}

#[tokio::test]
async fn nodes_are_created_read_written_and_deleted() {
    let server = server();
    let client = client(&server).await;
    let (stat, _) = client.create("/a", b"one", &OPEN).await.unwrap();
    assert_eq!((stat.version, stat.data_length, stat.czxid), (0, 3, stat.mzxid));
    assert_eq!(client.create("/a", b"", &OPEN).await.unwrap_err(), Error::NodeExists);
    assert_eq!(client.create("/b/c", b"", &OPEN).await.unwrap_err(), Error::NoNode);
    let stat = client.set_data("/a", b"second", Some(0)).await.unwrap();
    assert_eq!(client.set_data("/a", b"x", Some(0)).await.unwrap_err(), Error::BadVersion);
    assert_eq!(client.get_data("/a").await.unwrap(), (b"second".to_vec(), stat));
    let (_, sequence) = client
        .create("/a/n-", b"", &CreateMode::PersistentSequential.with_acls(Acls::anyone_all()))
        .await
        .unwrap();
    assert_eq!(sequence.to_string(), "0000000000");
    let (children, stat) = client.get_children("/a").await.unwrap();
    assert_eq!((children, stat.num_children, stat.cversion), (vec!["n-0000000000".to_owned()], 1, 1));
    assert_eq!(client.delete("/a", None).await.unwrap_err(), Error::NotEmpty);
    client.delete("/a/n-0000000000", Some(0)).await.unwrap();
    client.delete("/a", None).await.unwrap();
    assert_eq!(client.check_stat("/a").await.unwrap(), None);
    client.sync("/").await.unwrap();
    assert_eq!(client.count_descendants_number("/").await.unwrap(), 3);
    assert_eq!(client.get_config().await.unwrap().0, b"");
    assert_eq!(client.list_auth_users().await.unwrap()[0].scheme(), "ip");
}

#[tokio::test]
async fn containers_and_nodes_with_a_time_to_live_go_by_themselves() {
    let server = Server::builder()
        .in_memory()
        .ephemeral_port()
        .container_check_interval(Duration::from_millis(20))
        .start()
        .unwrap();
    let client = client(&server).await;
    client.create("/c", b"", &CreateMode::Container.with_acls(Acls::anyone_all())).await.unwrap();
    client.create("/c/x", b"", &OPEN).await.unwrap();
    let short = OPEN.with_ttl(Duration::from_millis(1));
    let (_, watcher) = client.check_and_watch_stat("/t").await.unwrap();
    client.create("/t", b"", &short).await.unwrap();
    assert_eq!(within("the creation", watcher.changed()).await.event_type, EventType::NodeCreated);
    let watcher = client.watch("/", AddWatchMode::PersistentRecursive).await;
    let mut watcher = watcher.unwrap();
    client.delete("/c/x", None).await.unwrap();
    let mut gone = Vec::new();
    while !gone.contains(&"/c".to_owned()) || !(gone.contains(&"/t".to_owned())) {
        if client.check_stat("/t").await.unwrap().is_none() && !gone.contains(&"/t".to_owned()) {
            gone.push("/t".to_owned());
            continue;
        }
        let event = within("the removal", watcher.changed()).await;
        assert_eq!(event.event_type, EventType::NodeDeleted);
        gone.push(event.path);
    }
}

#[tokio::test]
async fn one_shot_watches_tell_once_and_with_their_zxid() {
    let server = server();
    let (watching, writing) = (client(&server).await, client(&server).await);
    let (absent, created) = watching.check_and_watch_stat("/w").await.unwrap();
    assert_eq!(absent, None);
    let (stat, _) = writing.create("/w", b"", &OPEN).await.unwrap();
    let event = within("the creation", created.changed()).await;
    assert_eq!(
        (event.event_type, event.path.as_str(), event.zxid),
        (EventType::NodeCreated, "/w", stat.czxid)
    );
    let (_, _, data) = watching.get_and_watch_data("/w").await.unwrap();
    let (_, children) = watching.list_and_watch_children("/w").await.unwrap();
    let stat = writing.set_data("/w", b"x", None).await.unwrap();
    writing.create("/w/x", b"", &OPEN).await.unwrap();
    let event = within("the write", data.changed()).await;
    assert_eq!((event.event_type, event.zxid), (EventType::NodeDataChanged, stat.mzxid));
    let event = within("the child", children.changed()).await;
    assert_eq!((event.event_type, event.path.as_str()), (EventType::NodeChildrenChanged, "/w"));
}

#[tokio::test]
async fn lasting_watches_tell_everything_in_order() {
    let server = server();
    let (watching, writing) = (client(&server).await, client(&server).await);
    writing.create("/r", b"", &OPEN).await.unwrap();
    let mut recursive = watching.watch("/r", AddWatchMode::PersistentRecursive).await.unwrap();
    let mut persistent = watching.watch("/r", AddWatchMode::Persistent).await.unwrap();
    writing.create("/r/a", b"", &OPEN).await.unwrap();
    writing.set_data("/r/a", b"1", None).await.unwrap();
    writing.set_data("/r", b"1", None).await.unwrap();
    writing.delete("/r/a", None).await.unwrap();
    writing.delete("/r", None).await.unwrap();
    let mut seen = Vec::new();
    for _ in 0..5 {
        let event = within("an event", recursive.changed()).await;
        seen.push((event.event_type, event.path));
    }
    let expected = [
        (EventType::NodeCreated, "/r/a"),
        (EventType::NodeDataChanged, "/r/a"),
        (EventType::NodeDataChanged, "/r"),
        (EventType::NodeDeleted, "/r/a"),
        (EventType::NodeDeleted, "/r"),
    ];
    assert_eq!(seen, expected.map(|(kind, path)| (kind, path.to_owned())));
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(within("an event", persistent.changed()).await.event_type);
    }
    let expected = [
        EventType::NodeChildrenChanged,
        EventType::NodeDataChanged,
        EventType::NodeChildrenChanged,
        EventType::NodeDeleted,
    ];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn transactions_do_everything_or_nothing() {
    let server = server();
    let client = client(&server).await;
    client.create("/m", b"", &OPEN).await.unwrap();
    let mut writer = client.new_multi_writer();
    writer.add_check_version("/m", 0).unwrap();
    writer.add_create("/m/a", b"a", &OPEN).unwrap();
    writer.add_set_data("/m", b"m", Some(0)).unwrap();
    writer.add_delete("/m/a", None).unwrap();
    writer.add_create("/m/b", b"b", &OPEN).unwrap();
    let results = writer.commit().await.unwrap();
    assert!(matches!(results[0], MultiWriteResult::Check));
    match (&results[1], &results[2], &results[4]) {
        (
            MultiWriteResult::Create { path, stat },
            MultiWriteResult::SetData { stat: parent },
            MultiWriteResult::Create { stat: other, .. },
        ) => {
            assert_eq!((path.as_str(), stat.is_invalid(), stat.czxid), ("/m/a", false, other.czxid));
            assert_eq!((parent.version, parent.num_children, parent.mzxid), (1, 1, other.czxid));
        }
        other => panic!("{other:?}"),
    }
    let mut writer = client.new_multi_writer();
    writer.add_create("/m/c", b"", &OPEN).unwrap();
    writer.add_check_version("/m", 0).unwrap();
    match writer.commit().await.unwrap_err() {
        MultiWriteError::OperationFailed { index, source } => {
            assert_eq!((index, source), (1, Error::BadVersion))
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(client.list_children("/m").await.unwrap(), ["b"]);
    let check = client.new_check_writer("/m", Some(0)).unwrap();
    let mut writer = check;
    writer.add_delete("/m/b", None).unwrap();
    assert!(writer.commit().await.is_err());
    let mut reader = client.new_multi_reader();
    reader.add_get_data("/m").unwrap();
    reader.add_get_children("/m").unwrap();
    reader.add_get_data("/nope").unwrap();
    let results = reader.commit().await.unwrap();
    assert!(matches!(&results[0], MultiReadResult::Data { data, .. } if data == b"m"));
    assert!(matches!(&results[1], MultiReadResult::Children { children } if children == &["b"]));
    assert!(matches!(&results[2], MultiReadResult::Error { err: Error::NoNode }));
}

#[tokio::test]
async fn access_control_keeps_others_out() {
    let server = Server::builder()
        .in_memory()
        .ephemeral_port()
        .super_digest("super:D/InIHSb7yEEbrWz8b9l71RjZJU=")
        .start()
        .unwrap();
    let (owner, other) = (client(&server).await, client(&server).await);
    owner.auth("digest", b"user:secret").await.unwrap();
    owner.create("/s", b"x", &CreateMode::Persistent.with_acls(Acls::creator_all())).await.unwrap();
    assert_eq!(other.get_data("/s").await.unwrap_err(), Error::NoAuth);
    assert_eq!(other.delete("/s", None).await, Ok(()), "deleting needs the permission of the parent");
    let acls = [Acl::new(Permission::ALL, AuthId::authed()), Acl::new(Permission::READ, AuthId::anyone())];
    owner.create("/s", b"x", &CreateMode::Persistent.with_acls(Acls::new(&acls))).await.unwrap();
    assert_eq!(other.get_data("/s").await.unwrap().0, b"x");
    assert_eq!(other.set_data("/s", b"", None).await.unwrap_err(), Error::NoAuth);
    assert_eq!(other.get_acl("/s").await.unwrap().0[0].id(), "user:x");
    assert_ne!(owner.get_acl("/s").await.unwrap().0[0].id(), "user:x");
    other.auth("digest", b"super:test").await.unwrap();
    other.set_data("/s", b"", None).await.unwrap();
    assert_eq!(other.auth("nobody", b"").await.unwrap_err(), Error::AuthFailed);
}

#[tokio::test]
async fn a_lock_passes_on_when_its_holder_leaves() {
    let server = server();
    let (first, second) = (client(&server).await, client(&server).await);
    let prefix = || LockPrefix::new_curator("/locks", "latch-").unwrap();
    let options = || LockOptions::new(Acls::anyone_all()).with_ancestor_options(OPEN).unwrap();
    let held = first.lock(prefix(), b"first", options()).await.unwrap();
    held.create("/guarded", b"", &OPEN).await.unwrap();
    let waiting = second.lock(prefix(), b"second", options());
    let mut waiting = std::pin::pin!(waiting);
    tokio::select! {
        _ = &mut waiting => panic!("two hold the lock"),
        children = first.list_children("/locks") => assert!(!children.unwrap().is_empty()),
    }
    drop(held);
    let held = within("the lock", waiting).await.unwrap();
    held.set_data("/guarded", b"x", None).await.unwrap();
}

#[tokio::test]
async fn ephemeral_nodes_go_when_their_session_is_closed() {
    let server = server();
    let (owner, watching) = (client(&server).await, client(&server).await);
    owner.create("/e", b"", &EPHEMERAL).await.unwrap();
    assert_eq!(owner.list_ephemerals("/").await.unwrap(), ["/e"]);
    assert_eq!(owner.create("/e/x", b"", &OPEN).await.unwrap_err(), Error::NoChildrenForEphemerals);
    let (_, watcher) = watching.check_and_watch_stat("/e").await.unwrap();
    drop(owner);
    assert_eq!(within("the end of the session", watcher.changed()).await.event_type, EventType::NodeDeleted);
}

/// What a supervisor does that knows a process to be dead.
#[tokio::test]
async fn a_session_can_be_closed_by_who_knows_its_password() {
    let server = server();
    let watching = client(&server).await;
    let mut dead = Wire::connect(server.local_addr(), 40_000).unwrap();
    dead.create("/brokers-like", b"", 1).unwrap();
    let (session, password) = (dead.session, dead.password);
    let (_, watcher) = watching.check_and_watch_stat("/brokers-like").await.unwrap();
    let started = Instant::now();
    let mut supervisor =
        Wire::attach(server.local_addr(), 40_000, session, &password).unwrap().expect("the session lives");
    supervisor.close_session().unwrap();
    let event = within("the deletion", watcher.changed()).await;
    assert_eq!(event.event_type, EventType::NodeDeleted);
    assert!(started.elapsed() < Duration::from_secs(4), "no timeout was waited for");
    assert!(Wire::attach(server.local_addr(), 40_000, session, &password).unwrap().is_none());
    assert!(dead.is_closed(), "the old connection is closed");
}

#[tokio::test]
async fn a_broken_connection_costs_nothing_before_the_timeout_and_everything_after() {
    let server = brisk_server();
    let watching = client(&server).await;
    let mut owner = Wire::connect(server.local_addr(), 500).unwrap();
    owner.create("/kept", b"", 1).unwrap();
    let (session, password) = (owner.session, owner.password);
    drop(owner);
    let mut again =
        Wire::attach(server.local_addr(), 500, session, &password).unwrap().expect("the session lives");
    assert!(again.exists("/kept").unwrap());
    let (_, watcher) = watching.check_and_watch_stat("/kept").await.unwrap();
    drop(again);
    assert_eq!(within("the timeout", watcher.changed()).await.event_type, EventType::NodeDeleted);
    assert!(Wire::attach(server.local_addr(), 500, session, &password).unwrap().is_none());
}

#[tokio::test]
async fn a_silent_client_loses_its_session_and_a_pinging_one_does_not() {
    let server = brisk_server();
    let connector = || Client::connector().with_session_timeout(Duration::from_millis(400));
    let pinging = connector().connect(&server.local_addr().to_string()).await.unwrap();
    pinging.create("/pinging", b"", &EPHEMERAL).await.unwrap();
    let mut silent = Wire::connect(server.local_addr(), 400).unwrap();
    silent.create("/silent", b"", 1).unwrap();
    let (_, watcher) = pinging.check_and_watch_stat("/silent").await.unwrap();
    assert_eq!(within("the expiry", watcher.changed()).await.event_type, EventType::NodeDeleted);
    assert!(silent.is_closed());
    assert!(pinging.check_stat("/pinging").await.unwrap().is_some());
}

#[tokio::test]
async fn sessions_and_nodes_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let start = |port| Server::builder().data_dir(directory.path()).port(port).start().unwrap();
    let server = start(0);
    let address = server.local_addr();
    let client = client(&server).await;
    client.create("/kept", b"data", &OPEN).await.unwrap();
    client.create("/mine", b"", &EPHEMERAL).await.unwrap();
    let (_, _, watcher) = client.get_and_watch_data("/kept").await.unwrap();
    let session = client.session_id();
    server.stop().unwrap();
    let server = start(address.port());
    let after = loop {
        match within("the reconnect", client.get_data("/kept")).await {
            Ok(found) => break found,
            Err(Error::ConnectionLoss) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!((after.0, client.session_id()), (b"data".to_vec(), session));
    assert_eq!(client.list_ephemerals("/").await.unwrap(), ["/mine"]);
    client.set_data("/kept", b"new", None).await.unwrap();
    assert_eq!(within("the watch", watcher.changed()).await.event_type, EventType::NodeDataChanged);
    drop(client);
    server.stop().unwrap();
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::builder().data_dir(directory.path()).ephemeral_port().start().unwrap();
    let client = client(&server).await;
    client.create("/n", b"", &OPEN).await.unwrap();
    let mut writes = Vec::new();
    for index in 0..500_i32 {
        writes.push((client.set_data("/n", &index.to_be_bytes(), Some(index)), client.get_data("/n")));
    }
    for (index, (write, read)) in (0_i32..).zip(writes) {
        assert_eq!(write.await.unwrap().version, index + 1);
        let (data, stat) = read.await.unwrap();
        assert_eq!((data.as_slice(), stat.version), (&index.to_be_bytes()[..], index + 1));
    }
    server.stop().unwrap();
}

#[test]
fn bad_input_gets_an_error_or_a_closed_connection_and_costs_others_nothing() {
    let server = server();
    let mut bystander = Wire::connect(server.local_addr(), 10_000).unwrap();
    let garbage: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0x7f, 0xff, 0xff, 0xff, 1, 2, 3],
        &[0xff, 0xff, 0xff, 0xff],
        &[0, 0, 0, 0],
        &[0, 0, 0, 3, 1, 2, 3],
        b"xxxx",
    ];
    for bytes in garbage {
        assert!(wire::is_refused(server.local_addr(), bytes), "{bytes:?}");
        assert!(bystander.exists("/").unwrap());
    }
    let half = wire::half_open(server.local_addr(), &[0, 0, 0, 45, 0, 0]);
    assert!(bystander.exists("/").unwrap());
    drop(half);
    let mut client = Wire::connect(server.local_addr(), 10_000).unwrap();
    assert_eq!(client.call(1, &[0, 0, 0, 99]).unwrap().error, -5);
    assert_eq!(client.call(4, &[0x7f, 0xff, 0xff, 0xff]).unwrap().error, -5);
    assert!(client.exists("/").unwrap(), "a malformed body leaves the connection alone");
    assert_eq!(client.call(99, &[]).unwrap().error, -6);
    assert!(client.is_closed());
    assert!(bystander.exists("/").unwrap());
}

#[test]
fn limits_refuse_what_is_too_much() {
    let server = Server::builder()
        .in_memory()
        .ephemeral_port()
        .max_connections_per_address(2)
        .max_frame_bytes(2_000)
        .start()
        .unwrap();
    let mut first = Wire::connect(server.local_addr(), 10_000).unwrap();
    let mut second = Wire::connect(server.local_addr(), 10_000).unwrap();
    assert!(Wire::connect(server.local_addr(), 10_000).is_err());
    first.create("/big", &[0; 1_500], 0).unwrap();
    assert!(first.create("/bigger", &[0; 2_500], 0).is_err(), "a frame beyond the limit ends the connection");
    assert!(second.exists("/big").unwrap());
}

#[test]
fn half_requests_and_unread_replies_have_a_bound_over_all_connections() {
    let server =
        Server::builder().in_memory().ephemeral_port().max_buffered_bytes(3_000_000).start().unwrap();
    let mut bystander = Wire::connect(server.local_addr(), 30_000).unwrap();
    bystander.create("/big", &[1; 900_000], 0).unwrap();
    let mut half_frame = vec![0; 700_000];
    half_frame[..4].copy_from_slice(&1_000_000_u32.to_be_bytes());
    let greedy: Vec<_> = (0..8).map(|_| wire::half_open(server.local_addr(), &half_frame)).collect();
    let closed = greedy.into_iter().filter(|stream| wire::ends(stream, Duration::from_millis(500))).count();
    assert!((3..8).contains(&closed), "{closed} of 8 were closed");
    assert!(bystander.exists("/big").unwrap());
    // Replies that nobody reads stay in the server only up to the bound, and the requests in the socket.
    let mut lazy = Wire::connect(server.local_addr(), 30_000).unwrap();
    for _ in 0..20 {
        lazy.send(4, &wire::path_and_flag("/big", false)).unwrap();
    }
    assert!(bystander.exists("/big").unwrap());
}

#[test]
fn kazoo_and_its_recipes_work() {
    foreign::kazoo(server().local_addr());
}

#[test]
fn the_command_line_of_apache_zookeeper_works() {
    foreign::command_line(server().local_addr());
}

#[test]
fn several_servers_live_in_one_process_and_stop_when_dropped() {
    let (first, second) = (server(), server());
    assert_ne!(first.local_addr(), second.local_addr());
    let address = first.local_addr();
    drop(first);
    assert!(Wire::connect(address, 10_000).is_err());
    assert!(Wire::connect(second.local_addr(), 10_000).is_ok());
}
