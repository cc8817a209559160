//! Random operations.
#![allow(unreachable_pub, missing_docs, dead_code, reason = "a module of a test")]

use ottla_zookeeper::jute::{Acl, Permissions, Reader, Writer, op};

use crate::seed::Random;

/// What a session does.
#[derive(Clone, Debug)]
pub enum Operation {
    /// It sends a request, under a fixed number if the protocol wants one.
    Request { op: i32, xid: Option<i32>, body: Vec<u8> },
    /// It goes on on another connection.
    Move,
    /// It closes, and another session takes its place.
    CloseAndOpen,
}

/// Which watches a session sets. Apache ZooKeeper mixes them up on one path before 3.9 (ZOOKEEPER-4466), so no session
/// has more than one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    OneShot,
    Persistent,
    Recursive,
}

impl Operation {
    pub fn describe(&self) -> String {
        match self {
            Operation::Request { op, body, .. } => {
                format!("operation {op} {}", String::from_utf8_lossy(body).escape_debug())
            }
            other => format!("{other:?}"),
        }
    }
}

pub fn random(random: &mut Random, style: Style) -> Operation {
    let one_shot = style == Style::OneShot && random.once_in(2);
    let (op, body) = match random.below(100) {
        0 => return Operation::Move,
        1 => return Operation::CloseAndOpen,
        2..=3 => return auth(random),
        4..=6 => return set_watches(random, style),
        7..=28 => create(random),
        29..=36 => (op::DELETE, delete(random)),
        37..=46 => (op::SET_DATA, set_data(random)),
        47..=52 => (op::EXISTS, path_and_flag(random, one_shot)),
        53..=58 => (op::GET_DATA, path_and_flag(random, one_shot)),
        59..=62 => (op::GET_CHILDREN, path_and_flag(random, one_shot)),
        63..=66 => (op::GET_CHILDREN2, path_and_flag(random, one_shot)),
        67..=68 => (op::GET_ACL, path_and_flag(random, false)),
        69..=71 => (op::SET_ACL, set_acl(random)),
        72..=83 => (op::MULTI, multi(random)),
        84..=86 => (op::MULTI_READ, multi_read(random)),
        87 => (op::SYNC, path_and_flag(random, false)),
        88 => (op::GET_EPHEMERALS, path_and_flag(random, false)),
        89..=90 => (op::GET_ALL_CHILDREN_NUMBER, path_and_flag(random, false)),
        91 => (op::WHO_AM_I, Vec::new()),
        92..=94 => add_watch(random, style),
        // Whether a watch is there is not asked: before 3.9 the real server takes other connections' watches for one's own.
        95..=97 => (op::REMOVE_WATCHES, watch_of_style(random, style)),
        98 => (op::RECONFIG, random.pick(&[Vec::new(), vec![0xff; 20]])),
        _ => malformed(random),
    };
    Operation::Request { op, xid: None, body }
}

fn path(random: &mut Random) -> String {
    const ODD: [&str; 14] = [
        "/",
        "",
        "a",
        "/a/",
        "//",
        "/a//b",
        "/a/.",
        "/a/../b",
        "/zookeeper",
        "/zookeeper/config",
        "/zookeeper/quota",
        "/a\u{1}",
        "/a\u{e000}",
        "/a\0",
    ];
    if random.once_in(20) {
        return random.pick(&ODD).to_owned();
    }
    let names = ["a", "b", "c", "ü"];
    let depth = 1 + random.below(3);
    (0..depth).map(|_| format!("/{}", random.pick(&names))).collect()
}

fn data(random: &mut Random) -> Option<Vec<u8>> {
    match random.below(8) {
        0 => None,
        1 => Some(Vec::new()),
        length => Some(vec![b'x'; length]),
    }
}

fn version(random: &mut Random) -> i32 {
    match random.below(4) {
        0 => 0,
        1 => i32::try_from(random.below(4)).unwrap(),
        _ => -1,
    }
}

fn acl(random: &mut Random) -> Vec<Acl> {
    let open = Acl::new(Permissions::ALL, "world", "anyone");
    if !random.once_in(6) {
        return vec![open];
    }
    let permissions = Permissions(i32::try_from(random.below(32)).unwrap());
    match random.below(9) {
        0 => Vec::new(),
        1 => vec![Acl::new(permissions, "world", "anyone")],
        2 => vec![Acl::new(permissions, "auth", "")],
        3 => vec![Acl::new(permissions, "ip", "127.0.0.0/8")],
        4 => vec![Acl::new(permissions, "ip", "10.0.0.1/33"), open],
        5 => vec![Acl::new(permissions, "digest", "user:2Om+GBbT2q/tS6pdvACZbbm7/1A="), open],
        6 => vec![open.clone(), open],
        7 => vec![Acl::new(permissions, "nonsense", "x")],
        _ => vec![Acl::new(permissions, "world", "anyone"), Acl::new(Permissions::READ, "auth", "ignored")],
    }
}

/// A create of any kind, with the flags that go with it most of the time.
fn create(random: &mut Random) -> (i32, Vec<u8>) {
    let mut writer = Writer::new();
    let kind =
        random.pick(&[op::CREATE, op::CREATE, op::CREATE, op::CREATE2, op::CREATE_CONTAINER, op::CREATE_TTL]);
    write_create(kind, random, &mut writer);
    (kind, writer.into_bytes())
}

fn write_create(kind: i32, random: &mut Random, writer: &mut Writer) {
    writer.string(&path(random));
    writer.buffer(data(random).as_deref());
    Acl::encode_list(&acl(random), writer);
    let flags = match kind {
        op::CREATE_CONTAINER => 4,
        op::CREATE_TTL => random.pick(&[5, 5, 6]),
        // 5 to 7 are bad; 4 makes the real server's digest wrong (facts on flags).
        _ if random.once_in(15) => random.pick(&[5, 6, 7, -1]),
        _ => random.pick(&[0, 0, 0, 1, 2, 3]),
    };
    writer.i32(flags);
    if kind == op::CREATE_TTL {
        writer.i64(random.pick(&[1_000_000, 1_000_000, 1, 0, -1, (1 << 40) - 1, 1 << 40]));
    }
}

fn delete(random: &mut Random) -> Vec<u8> {
    let mut writer = Writer::new();
    write_delete(random, &mut writer);
    writer.into_bytes()
}

fn write_delete(random: &mut Random, writer: &mut Writer) {
    writer.string(&path(random));
    writer.i32(version(random));
}

fn set_data(random: &mut Random) -> Vec<u8> {
    let mut writer = Writer::new();
    write_set_data(random, &mut writer);
    writer.into_bytes()
}

fn write_set_data(random: &mut Random, writer: &mut Writer) {
    writer.string(&path(random));
    writer.buffer(data(random).as_deref());
    writer.i32(version(random));
}

/// ACLs of the root stay as they are, or nobody could do anything for the rest of the run.
fn set_acl(random: &mut Random) -> Vec<u8> {
    let mut writer = Writer::new();
    let path = match path(random).as_str() {
        "/" | "" => "/a".to_owned(),
        other => other.to_owned(),
    };
    writer.string(&path);
    Acl::encode_list(&acl(random), &mut writer);
    writer.i32(version(random));
    writer.into_bytes()
}

fn path_and_flag(random: &mut Random, flag: bool) -> Vec<u8> {
    crate::wire::path_and_flag(&path(random), flag)
}

fn path_and_number(random: &mut Random, number: i32) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.string(&path(random));
    writer.i32(number);
    writer.into_bytes()
}

fn item(code: i32, writer: &mut Writer) {
    writer.i32(code);
    writer.bool(false);
    writer.i32(-1);
}

fn end(writer: &mut Writer) {
    writer.i32(-1);
    writer.bool(true);
    writer.i32(-1);
}

fn multi(random: &mut Random) -> Vec<u8> {
    let mut writer = Writer::new();
    for _ in 0..random.below(4) {
        match random.below(5) {
            0..=1 => {
                let kind = random.pick(&[op::CREATE, op::CREATE, op::CREATE2, op::CREATE_CONTAINER]);
                item(kind, &mut writer);
                let mut create = Writer::new();
                write_create(kind, random, &mut create);
                write_flags_that_fit(create, &mut writer);
            }
            2 => {
                item(op::DELETE, &mut writer);
                write_delete(random, &mut writer);
            }
            3 => {
                item(op::SET_DATA, &mut writer);
                write_set_data(random, &mut writer);
            }
            _ => {
                item(op::CHECK, &mut writer);
                write_delete(random, &mut writer);
            }
        }
    }
    end(&mut writer);
    writer.into_bytes()
}

/// In a multi the real server stumbles over the flags of nodes with a time to live where an operation has none, and
/// answers the whole request with a marshalling error.
fn write_flags_that_fit(create: Writer, writer: &mut Writer) {
    let mut bytes = create.into_bytes();
    if let [.., 5 | 6] = bytes.as_slice() {
        bytes.pop();
        bytes.push(7);
    }
    writer.raw(&bytes);
}

fn multi_read(random: &mut Random) -> Vec<u8> {
    let mut writer = Writer::new();
    for _ in 0..random.below(4) {
        item(random.pick(&[op::GET_DATA, op::GET_CHILDREN]), &mut writer);
        writer.raw(&path_and_flag(random, false));
    }
    end(&mut writer);
    writer.into_bytes()
}

fn add_watch(random: &mut Random, style: Style) -> (i32, Vec<u8>) {
    match style {
        Style::OneShot => (op::EXISTS, path_and_flag(random, true)),
        Style::Persistent => (op::ADD_WATCH, path_and_number(random, 0)),
        Style::Recursive => (op::ADD_WATCH, path_and_number(random, 1)),
    }
}

/// A path and a type that names what a session of a style has, for the old server as for the new.
fn watch_of_style(random: &mut Random, style: Style) -> Vec<u8> {
    let kind = match style {
        Style::OneShot => random.pick(&[1, 2, 3, 9]),
        Style::Persistent | Style::Recursive => 3,
    };
    path_and_number(random, kind)
}

fn set_watches(random: &mut Random, style: Style) -> Operation {
    let mut writer = Writer::new();
    writer.i64(i64::try_from(random.below(200)).unwrap());
    let mut lists: [Vec<String>; 5] = std::array::from_fn(|_| Vec::new());
    let of_style: &[usize] = match style {
        Style::OneShot => &[0, 1, 2],
        Style::Persistent => &[3],
        Style::Recursive => &[4],
    };
    for index in of_style {
        for _ in 0..random.below(3) {
            lists[*index].push(path(random));
        }
    }
    for list in lists {
        writer.count(list.len());
        for path in list {
            writer.string(&path);
        }
    }
    Operation::Request { op: op::SET_WATCHES2, xid: Some(-8), body: writer.into_bytes() }
}

pub fn auth_body(scheme: &str, credentials: &str) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.i32(0);
    writer.string(scheme);
    writer.buffer(Some(credentials.as_bytes()));
    writer.into_bytes()
}

fn auth(random: &mut Random) -> Operation {
    let body = random.pick(&[("digest", "user:pw"), ("digest", "other:pw"), ("ip", "")]);
    Operation::Request { op: op::AUTH, xid: Some(-4), body: auth_body(body.0, body.1) }
}

/// A body that ends too early, or counts too much.
fn malformed(random: &mut Random) -> (i32, Vec<u8>) {
    let operation = random.pick(&[
        op::CREATE,
        op::DELETE,
        op::SET_DATA,
        op::GET_DATA,
        op::EXISTS,
        op::MULTI,
        op::SET_ACL,
    ]);
    (
        operation,
        random.pick(&[Vec::new(), vec![0], vec![0, 0, 0, 9, b'/'], vec![0x7f, 0xff, 0xff, 0xff, b'/']]),
    )
}

/// Returns the paths of the children in a reply to `getChildren2`, in order.
pub fn children(path: &str, body: &[u8]) -> Vec<String> {
    let mut reader = Reader::new(body);
    let count = reader.count("children", 4).unwrap_or(0);
    let mut children: Vec<String> = (0..count)
        .map(|_| format!("{}/{}", path.trim_end_matches('/'), reader.string("child").unwrap()))
        .collect();
    children.sort();
    children
}
