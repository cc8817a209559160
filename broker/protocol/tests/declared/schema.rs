//! The declarations as data, read from their source text.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

/// A message as it is declared.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    pub(crate) name: String,
    /// The key's name, of requests only.
    pub(crate) key: Option<String>,
    pub(crate) versions: RangeInclusive<i16>,
    pub(crate) flexible_from: Option<i16>,
    structs: BTreeMap<String, Vec<Field>>,
}

impl Declared {
    pub(crate) fn fields(&self, name: &str) -> &[Field] {
        self.structs.get(name).unwrap_or_else(|| panic!("{}: no struct {name}", self.name))
    }

    pub(crate) fn is_flexible(&self, version: i16) -> bool {
        self.flexible_from.is_some_and(|first| version >= first)
    }
}

/// A field as it is declared.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) versions: RangeInclusive<i16>,
    pub(crate) null_from: Option<i16>,
    pub(crate) tag: Option<u32>,
    pub(crate) default_is_true: bool,
}

/// The type of a field, without whether it may be null.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Bool,
    /// An integer of so many bytes.
    Integer(usize),
    Float,
    Uuid,
    Text,
    Bytes,
    List(Box<Kind>),
    Struct(String),
}

/// Reads every declaration there is.
pub(crate) fn all() -> Vec<Declared> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/message");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = paths.iter().map(|path| std::fs::read_to_string(path).unwrap());
    texts.flat_map(|text| declarations(&text)).collect()
}

/// Reads one message by its name.
pub(crate) fn named(name: &str) -> Declared {
    all()
        .into_iter()
        .find(|declared| declared.name == name)
        .unwrap_or_else(|| panic!("{name} is not declared"))
}

/// Structures are shared by the declarations of a file.
fn declarations(text: &str) -> Vec<Declared> {
    let mut found = Vec::new();
    let mut structs: BTreeMap<String, Vec<Field>> = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line != "declare! {" {
            continue;
        }
        found.push(header(lines.next().unwrap().trim()));
        let mut current = String::new();
        for line in lines.by_ref().take_while(|line| *line != "}") {
            let line = line.trim();
            if line.starts_with("//") || line.starts_with('#') || line == "}" || line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix("struct ") {
                current = name.trim_end_matches(['{', ' ', '}']).to_owned();
                structs.entry(current.clone()).or_default();
            } else {
                structs.get_mut(&current).unwrap().push(field(line));
            }
        }
    }
    for declared in &mut found {
        declared.structs.clone_from(&structs);
    }
    found
}

/// `FetchRequest: request Fetch -> FetchResponse, versions 0..=17, flexible 12;`
fn header(line: &str) -> Declared {
    let (name, rest) = line.split_once(": ").unwrap();
    let mut parts = rest.trim_end_matches(';').split(", ");
    let kind = parts.next().unwrap();
    let key = kind.strip_prefix("request ").map(|rest| rest.split_once(" -> ").unwrap().0.to_owned());
    assert!(key.is_some() || kind == "response", "{line}");
    let versions = range(parts.next().unwrap().strip_prefix("versions ").unwrap());
    let flexible_from = parts.next().map(|part| part.strip_prefix("flexible ").unwrap().parse().unwrap());
    Declared { name: name.to_owned(), key, versions, flexible_from, structs: BTreeMap::new() }
}

/// `cluster_id: Option<String> [12..=17 null 12 tag 0 ignorable] = None,`
fn field(line: &str) -> Field {
    let (name, rest) = line.split_once(": ").unwrap();
    let (declared_type, rest) = rest.split_once(" [").unwrap();
    let (marks, rest) = rest.split_once(']').unwrap();
    let mut words = marks.split(' ');
    let versions = range(words.next().unwrap());
    let (mut null_from, mut tag) = (None, None);
    while let Some(word) = words.next() {
        match word {
            "null" => null_from = Some(words.next().unwrap().parse().unwrap()),
            "tag" => tag = Some(words.next().unwrap().parse().unwrap()),
            "ignorable" => {}
            other => panic!("{other} in {line}"),
        }
    }
    Field {
        name: name.trim_start_matches("r#").to_owned(),
        kind: kind(declared_type),
        versions,
        null_from,
        tag,
        default_is_true: rest.contains("true"),
    }
}

fn kind(declared_type: &str) -> Kind {
    let inside =
        |wrapper: &str| declared_type.strip_prefix(wrapper).and_then(|rest| rest.strip_suffix('>')).map(kind);
    if let Some(inner) = inside("Option<").or_else(|| inside("Box<")) {
        return inner;
    }
    if let Some(inner) = inside("Vec<") {
        return Kind::List(Box::new(inner));
    }
    match declared_type {
        "bool" => Kind::Bool,
        "i8" => Kind::Integer(1),
        "i16" | "u16" => Kind::Integer(2),
        "i32" | "u32" => Kind::Integer(4),
        "i64" => Kind::Integer(8),
        "f64" => Kind::Float,
        "Uuid" => Kind::Uuid,
        "String" => Kind::Text,
        "Bytes" | "Records" => Kind::Bytes,
        name => Kind::Struct(name.to_owned()),
    }
}

fn range(text: &str) -> RangeInclusive<i16> {
    let (first, last) = text.split_once("..=").unwrap();
    first.parse().unwrap()..=last.parse().unwrap()
}
