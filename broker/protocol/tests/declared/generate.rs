//! Random valid messages as bytes, with the places of all lengths in them.

use std::cmp::Ordering;

use super::random::Random;
use super::schema::{Declared, Field, Kind};

/// A valid message of some version, in the one form that an encoder writes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Generated {
    pub(crate) bytes: Vec<u8>,
    /// Where lengths and counts stand.
    pub(crate) lengths: Vec<Length>,
}

/// Where a length stands, and how many bytes it takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Length {
    pub(crate) position: usize,
    pub(crate) size: usize,
    pub(crate) compact: bool,
}

impl Generated {
    fn append(&mut self, other: Self) {
        let start = self.bytes.len();
        self.bytes.extend(other.bytes);
        self.lengths.extend(
            other.lengths.into_iter().map(|length| Length { position: length.position + start, ..length }),
        );
    }
}

/// Makes a message. Tagged fields are present only with a value that is not their default, as encoders write them.
pub(crate) fn generate(declared: &Declared, version: i16, random: &mut Random) -> Generated {
    assert!(declared.versions.contains(&version));
    let flexible = declared.is_flexible(version);
    let mut maker = Maker { declared, version, flexible, random, wide: None, lists: 0 };
    let mut out = Generated::default();
    maker.structure(&declared.name, false, &mut out);
    out
}

/// Makes a message in which everything is as small as can be but for one list, the one that comes at place `list`: it
/// has `count` elements, so that what they take in memory shows. `None` when there are fewer lists.
pub(crate) fn generate_wide(declared: &Declared, version: i16, list: usize, count: usize) -> Option<Vec<u8>> {
    let flexible = declared.is_flexible(version);
    let wide = Some(Wide { list, count });
    let mut maker = Maker { declared, version, flexible, random: &mut Random::new(0), wide, lists: 0 };
    let mut out = Generated::default();
    maker.structure(&declared.name, false, &mut out);
    (maker.lists > list).then_some(out.bytes)
}

/// Which list is long, by the order in which they are met.
#[derive(Debug, Clone, Copy)]
struct Wide {
    list: usize,
    count: usize,
}

struct Maker<'a> {
    declared: &'a Declared,
    version: i16,
    flexible: bool,
    random: &'a mut Random,
    wide: Option<Wide>,
    lists: usize,
}

impl Maker<'_> {
    fn structure(&mut self, name: &str, special: bool, out: &mut Generated) {
        let declared = self.declared;
        let (tagged, plain): (Vec<&Field>, Vec<&Field>) = declared
            .fields(name)
            .iter()
            .filter(|field| field.versions.contains(&self.version))
            .partition(|field| field.tag.is_some());
        for field in plain {
            self.field(field, special, out);
        }
        if self.flexible {
            self.tags(tagged, out);
        } else {
            assert!(tagged.is_empty(), "{name}: tags in an inflexible version");
        }
    }

    fn tags(&mut self, tagged: Vec<&Field>, out: &mut Generated) {
        if self.wide.is_some() {
            out.bytes.push(0);
            return;
        }
        let mut sections = Vec::new();
        for field in tagged {
            if self.random.one_in(2) {
                let mut own = Generated::default();
                self.field(field, true, &mut own);
                sections.push((field.tag.unwrap(), own));
            }
        }
        if self.random.one_in(4) {
            let size = self.random.below(6);
            sections.push((1_000, Generated { bytes: self.random.bytes(size), lengths: Vec::new() }));
        }
        sections.sort_by_key(|(tag, _)| *tag);
        unsigned_varint(sections.len(), out);
        for (tag, own) in sections {
            out.bytes.extend(encoded_varint(usize::try_from(tag).unwrap()));
            unsigned_varint(own.bytes.len(), out);
            out.append(own);
        }
    }

    /// `special` asks for a value that is no default.
    fn field(&mut self, field: &Field, special: bool, out: &mut Generated) {
        let nullable = field.null_from.is_some_and(|from| self.version >= from);
        let null = nullable && !special && self.wide.is_none() && self.random.one_in(4);
        match (&field.kind, null) {
            (Kind::Bool, _) if special => out.bytes.push(u8::from(!field.default_is_true)),
            (Kind::Struct(_), true) => out.bytes.push(0xff),
            (Kind::Struct(name), false) => {
                if field.null_from.is_some() {
                    out.bytes.push(1);
                }
                self.structure(name, special, out);
            }
            (Kind::Text, true) => self.length(None, true, out),
            (_, true) => self.length(None, false, out),
            (kind, false) => self.value(kind, special, out),
        }
    }

    fn value(&mut self, kind: &Kind, special: bool, out: &mut Generated) {
        if let Some(wide) = self.wide {
            return self.least(kind, wide, out);
        }
        match kind {
            Kind::Bool => out.bytes.push(u8::from(self.random.one_in(2))),
            Kind::Integer(size) => self.integer(*size, special, out),
            Kind::Float => {
                let number = f64::from(u32::try_from(self.random.below(1_000_000)).unwrap()) / 8.0 + 1.5;
                out.bytes.extend(number.to_be_bytes());
            }
            Kind::Uuid => out.bytes.extend(self.random.bytes(16)),
            Kind::Text => {
                let text = self.text(special);
                self.length(Some(text.len()), true, out);
                out.bytes.extend(text.into_bytes());
            }
            Kind::Bytes => {
                let long = if self.random.one_in(8) { 1_500 } else { 20 };
                let count = self.random.below(long) + usize::from(special);
                self.length(Some(count), false, out);
                out.bytes.extend(self.random.bytes(count));
            }
            Kind::List(element) => {
                let count = self.random.below(4).max(usize::from(special));
                self.length(Some(count), false, out);
                for _ in 0..count {
                    self.value(element, special, out);
                }
            }
            Kind::Struct(name) => self.structure(name, special, out),
        }
    }

    /// The smallest value; of a list the one that was asked for, and one element in those before it.
    fn least(&mut self, kind: &Kind, wide: Wide, out: &mut Generated) {
        match kind {
            Kind::Bool => out.bytes.push(0),
            Kind::Integer(size) => out.bytes.extend(vec![0; *size]),
            Kind::Float => out.bytes.extend([0; 8]),
            Kind::Uuid => out.bytes.extend([0; 16]),
            Kind::Text => self.length(Some(0), true, out),
            Kind::Bytes => self.length(Some(0), false, out),
            Kind::Struct(name) => self.structure(name, false, out),
            Kind::List(element) => {
                let place = self.lists;
                self.lists += 1;
                let count = match place.cmp(&wide.list) {
                    Ordering::Less => 1,
                    Ordering::Equal => wide.count,
                    Ordering::Greater => 0,
                };
                self.length(Some(count), false, out);
                for _ in 0..count {
                    self.value(element, false, out);
                }
            }
        }
    }

    fn integer(&mut self, size: usize, special: bool, out: &mut Generated) {
        let plain = i64::try_from(self.random.below(90)).unwrap() + 7;
        let number = match self.random.below(6) {
            _ if special => plain,
            0 => 0,
            1 => -1,
            2 => i64::MAX,
            3 => i64::MIN,
            4 => self.random.next().cast_signed(),
            _ => plain,
        };
        // The most significant bytes keep the extremes extreme, the least significant ones the small numbers small.
        let whole = number.to_be_bytes();
        if (-1..100).contains(&number) {
            out.bytes.extend(&whole[8 - size..]);
        } else {
            out.bytes.extend(&whole[..size]);
        }
    }

    fn text(&mut self, special: bool) -> String {
        let count = self.random.below(12) + usize::from(special);
        let alphabet = ['a', 'b', 'z', '0', '.', '-', '_', ' ', '"', '\\', 'é', '漢', '🦀'];
        (0..count).map(|_| alphabet[self.random.below(alphabet.len())]).collect()
    }

    fn length(&mut self, count: Option<usize>, short: bool, out: &mut Generated) {
        let position = out.bytes.len();
        if self.flexible {
            unsigned_varint(count.map_or(0, |count| count + 1), out);
        } else if short {
            let length = count.map_or(-1, |count| i16::try_from(count).unwrap());
            out.bytes.extend(length.to_be_bytes());
            out.lengths.push(Length { position, size: 2, compact: false });
        } else {
            let length = count.map_or(-1, |count| i32::try_from(count).unwrap());
            out.bytes.extend(length.to_be_bytes());
            out.lengths.push(Length { position, size: 4, compact: false });
        }
    }
}

fn unsigned_varint(value: usize, out: &mut Generated) {
    let encoded = encoded_varint(value);
    out.lengths.push(Length { position: out.bytes.len(), size: encoded.len(), compact: true });
    out.bytes.extend(encoded);
}

fn encoded_varint(mut value: usize) -> Vec<u8> {
    let mut encoded = Vec::new();
    loop {
        let bits = u8::try_from(value & 0x7f).unwrap();
        value >>= 7;
        if value == 0 {
            encoded.push(bits);
            return encoded;
        }
        encoded.push(bits | 0x80);
    }
}
