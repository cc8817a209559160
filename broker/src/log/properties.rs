//! `meta.properties`: to which cluster and broker a log directory belongs, in Java's properties text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::error::{Error, Result};
use super::file_names::META_PROPERTIES;
use crate::disk::{self, Disk, OpenMode};
use crate::types::BrokerId;

const SIZE_LIMIT: usize = 1 << 20;

/// What `meta.properties` says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetaProperties {
    /// 0 with ZooKeeper, 1 with KRaft.
    pub version: i32,
    /// `broker.id`, or `node.id` in version 1; very old files have none.
    pub broker_id: Option<BrokerId>,
    /// The cluster's id; very old files have none.
    pub cluster_id: Option<String>,
    /// The directory's own id, of migrated and KRaft brokers.
    pub directory_id: Option<String>,
}

impl MetaProperties {
    /// Reads the file of a log directory; `None` when there is none, as in a new directory.
    ///
    /// # Errors
    /// [`Error::Malformed`], or what the operating system answered.
    pub fn read(disk: &dyn Disk, directory: &Path) -> Result<Option<Self>> {
        let path = directory.join(META_PROPERTIES);
        let content = match disk.open(&path, OpenMode::Read) {
            Ok(file) => file.read_all(SIZE_LIMIT).map_err(Error::io("read", &path))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("open", &path)(error)),
        };
        // Java reads properties as Latin-1.
        let text: String = content.iter().map(|byte| char::from(*byte)).collect();
        Self::parse(&text, &path).map(Some)
    }

    /// Replaces the file of a log directory.
    ///
    /// # Errors
    /// What the operating system answered.
    pub fn write(&self, disk: &dyn Disk, directory: &Path) -> Result<()> {
        let path = directory.join(META_PROPERTIES);
        disk::replace(disk, &path, self.render().as_bytes()).map_err(Error::io("write", &path))
    }

    fn parse(text: &str, path: &Path) -> Result<Self> {
        let properties = parse_properties(text);
        let malformed = |key: &str, value: &str| Error::Malformed {
            path: path.to_owned(),
            line: 0,
            reason: format!("{key} is not a number: {value:?}"),
        };
        let number = |key: &str| match properties.get(key) {
            Some(value) => value
                .trim()
                .parse()
                .map(Some)
                .map_err(|_not_a_number: std::num::ParseIntError| malformed(key, value)),
            None => Ok(None),
        };
        let version = number("version")?.unwrap_or(0);
        let id = number(if version == 0 { "broker.id" } else { "node.id" })?;
        Ok(Self {
            version,
            broker_id: id.map(BrokerId),
            cluster_id: properties.get("cluster.id").cloned(),
            directory_id: properties.get("directory.id").cloned(),
        })
    }

    fn render(&self) -> String {
        let id_key = if self.version == 0 { "broker.id" } else { "node.id" };
        let fields = [
            ("version", Some(self.version.to_string())),
            (id_key, self.broker_id.map(|id| id.to_string())),
            ("cluster.id", self.cluster_id.clone()),
            ("directory.id", self.directory_id.clone()),
        ];
        let mut text = "#\n".to_owned();
        for (key, value) in fields.iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
            writeln!(text, "{key}={}", escape(value)).expect("a string takes every write");
        }
        text
    }
}

/// Reads Java's properties format: comments, continued lines, `=`, `:` or blanks between key and value, escapes.
fn parse_properties(text: &str) -> BTreeMap<String, String> {
    let mut properties = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut logical = line.trim_start().to_owned();
        if logical.starts_with(['#', '!']) {
            continue;
        }
        while logical.chars().rev().take_while(|c| *c == '\\').count() % 2 == 1 {
            logical.pop();
            logical.push_str(lines.next().unwrap_or_default().trim_start());
        }
        if logical.is_empty() {
            continue;
        }
        let (key, value) = split_at_separator(&logical);
        properties.insert(unescape(key), unescape(value));
    }
    properties
}

fn split_at_separator(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.char_indices().find(|(_, c)| {
        let separates = !escaped && matches!(c, '=' | ':' | ' ' | '\t' | '\x0C');
        escaped = *c == '\\' && !escaped;
        separates
    });
    let (key, rest) = line.split_at(end.map_or(line.len(), |(at, _)| at));
    let rest = rest.trim_start();
    (key, rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start())
}

fn unescape(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, false) => plain.push(c),
            (_, true) => match chars.next() {
                Some('t') => plain.push('\t'),
                Some('n') => plain.push('\n'),
                Some('r') => plain.push('\r'),
                Some('f') => plain.push('\x0C'),
                Some('u') => {
                    let digits: String = chars.by_ref().take(4).collect();
                    plain.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                }
                Some(other) => plain.push(other),
                None => {}
            },
        }
    }
    plain
}

fn escape(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\\' | '=' | ':' | '#' | '!' => escaped.extend(['\\', c]),
            '\t' => escaped.push_str("\\t"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            ' '..='~' => escaped.push(c),
            _ => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    write!(escaped, "\\u{unit:04X}").expect("a string takes every write");
                }
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;

    #[test]
    fn kafkas_files_are_read() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/logdir");
        let read = MetaProperties::read(&RealDisk, &directory).unwrap().unwrap();
        assert_eq!(read, zookeeper());
        let text = std::fs::read_to_string(directory.join("meta-v1.properties")).unwrap();
        let read = MetaProperties::parse(&text, &directory).unwrap();
        assert_eq!((read.version, read.broker_id), (1, Some(BrokerId(3))));
        assert_eq!(read.directory_id.as_deref(), Some("EBESExQVFhcYGRobHB0eHw"));
    }

    fn zookeeper() -> MetaProperties {
        MetaProperties {
            version: 0,
            broker_id: Some(BrokerId(3)),
            cluster_id: Some("AAECAwQFBgcICQoLDA0ODw".to_owned()),
            directory_id: None,
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(MetaProperties::read(&RealDisk, directory.path()).unwrap(), None);
        let odd =
            MetaProperties { cluster_id: Some(" a=b:c\\d#é\t".trim_start().to_owned()), ..zookeeper() };
        for properties in [zookeeper(), odd, MetaProperties::default()] {
            properties.write(&RealDisk, directory.path()).unwrap();
            assert_eq!(MetaProperties::read(&RealDisk, directory.path()).unwrap(), Some(properties));
        }
    }

    #[test]
    fn javas_freedoms_are_understood() {
        let text = "! comment\n\n  broker.id : 7\ncluster.id ab\\\n   cd\\u0041\\=\nversion=0\n";
        let read = MetaProperties::parse(text, Path::new("x")).unwrap();
        assert_eq!((read.broker_id, read.cluster_id.as_deref()), (Some(BrokerId(7)), Some("abcdA=")));
        MetaProperties::parse("broker.id=x", Path::new("x")).unwrap_err();
    }
}
