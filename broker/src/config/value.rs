//! Values: from text, to text, within their range.

use super::error::Problem;
use super::key::{Kind, Valid};
use super::listener::Listener;

/// A type that a key can have.
pub trait Value: Sized {
    /// The type's name in tables.
    const KIND: Kind;

    /// Reads the value from its text, which has no blanks at its ends.
    ///
    /// # Errors
    /// A fragment saying what was expected.
    fn read(text: &str) -> Result<Self, String>;

    /// Writes the value as [`Value::read`] takes it.
    fn render(&self) -> String;

    /// Returns whether the value is within `valid`.
    fn is_within(&self, valid: &Valid) -> bool;
}

/// Reads a value and holds it against its range.
pub(crate) fn read<T: Value>(text: &str, valid: &Valid) -> Result<T, Problem> {
    let text = text.trim();
    let value = T::read(text).map_err(|expected| Problem::BadValue { value: text.to_owned(), expected })?;
    if value.is_within(valid) {
        Ok(value)
    } else {
        Err(Problem::BadValue { value: text.to_owned(), expected: valid.to_string() })
    }
}

/// Reads a default from a table.
pub(crate) fn declared_default<T: Value>(text: &str, valid: &Valid) -> T {
    read(text, valid).expect("a table's defaults are read by a test")
}

macro_rules! number_value {
    ($type:ty, $kind:ident, $expected:literal) => {
        impl Value for $type {
            const KIND: Kind = Kind::$kind;

            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_bad: std::num::ParseIntError| $expected.to_owned())
            }

            fn render(&self) -> String {
                self.to_string()
            }

            fn is_within(&self, valid: &Valid) -> bool {
                let number = i64::from(*self);
                match valid {
                    Valid::AtLeast(low) => number >= *low,
                    Valid::Between(low, high) => (*low..=*high).contains(&number),
                    Valid::Any | Valid::OneOf(_) | Valid::NotEmpty => true,
                }
            }
        }
    };
}

number_value!(i16, Int, "a whole number of at most 16 bits");
number_value!(i32, Int, "a whole number of at most 32 bits");
number_value!(i64, Long, "a whole number");

impl Value for f64 {
    const KIND: Kind = Kind::Double;

    fn read(text: &str) -> Result<Self, String> {
        let number: Self = text.parse().map_err(|_bad: std::num::ParseFloatError| "a number".to_owned())?;
        if number.is_finite() { Ok(number) } else { Err("a finite number".to_owned()) }
    }

    fn render(&self) -> String {
        self.to_string()
    }

    #[expect(clippy::cast_precision_loss, reason = "the bounds of fractions are small numbers")]
    fn is_within(&self, valid: &Valid) -> bool {
        match valid {
            Valid::AtLeast(low) => *self >= *low as Self,
            Valid::Between(low, high) => (*low as Self..=*high as Self).contains(self),
            Valid::Any | Valid::OneOf(_) | Valid::NotEmpty => true,
        }
    }
}

impl Value for bool {
    const KIND: Kind = Kind::Boolean;

    fn read(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("true") {
            Ok(true)
        } else if text.eq_ignore_ascii_case("false") {
            Ok(false)
        } else {
            Err("true or false".to_owned())
        }
    }

    fn render(&self) -> String {
        self.to_string()
    }

    fn is_within(&self, _: &Valid) -> bool {
        true
    }
}

impl Value for String {
    const KIND: Kind = Kind::String;

    fn read(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }

    fn render(&self) -> String {
        self.clone()
    }

    fn is_within(&self, valid: &Valid) -> bool {
        match valid {
            Valid::OneOf(words) => words.contains(&self.as_str()),
            Valid::NotEmpty => !self.is_empty(),
            Valid::Any | Valid::AtLeast(_) | Valid::Between(..) => true,
        }
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: Kind = T::KIND;

    fn read(text: &str) -> Result<Self, String> {
        if text.is_empty() { Ok(None) } else { T::read(text).map(Some) }
    }

    fn render(&self) -> String {
        self.as_ref().map(Value::render).unwrap_or_default()
    }

    fn is_within(&self, valid: &Valid) -> bool {
        self.as_ref().is_none_or(|value| value.is_within(valid))
    }
}

/// A list: items separated by commas, blanks around them dropped, empty ones ignored.
impl<T: Value> Value for Vec<T> {
    const KIND: Kind = Kind::List;

    fn read(text: &str) -> Result<Self, String> {
        text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(T::read).collect()
    }

    fn render(&self) -> String {
        self.iter().map(Value::render).collect::<Vec<_>>().join(",")
    }

    fn is_within(&self, valid: &Valid) -> bool {
        match valid {
            Valid::NotEmpty => !self.is_empty(),
            other => self.iter().all(|item| item.is_within(other)),
        }
    }
}

impl Value for Listener {
    const KIND: Kind = Kind::String;

    fn read(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }

    fn render(&self) -> String {
        self.to_string()
    }

    fn is_within(&self, _: &Valid) -> bool {
        true
    }
}

/// Declares a value that is one of a few words.
macro_rules! word_value {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// The words, in the order of the variants.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            /// Returns the word for it.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl Value for $name {
            const KIND: Kind = Kind::String;

            fn read(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("one of {}", Self::WORDS.join(", "))),
                }
            }

            fn render(&self) -> String {
                self.word().to_owned()
            }

            fn is_within(&self, _: &Valid) -> bool {
                true
            }
        }
    };
}

word_value! {
    /// How the leader stores batches: as the producer sent them, or recompressed.
    CompressionType {
        /// Keep the producer's codec.
        Producer = "producer",
        /// Store uncompressed.
        Uncompressed = "uncompressed",
        /// Store as gzip.
        Gzip = "gzip",
        /// Store as snappy, in its Java framing.
        Snappy = "snappy",
        /// Store as lz4 frames.
        Lz4 = "lz4",
        /// Store as zstd.
        Zstd = "zstd",
    }
}

word_value! {
    /// Which clock stamps records.
    TimestampType {
        /// The producer's.
        CreateTime = "CreateTime",
        /// The leader's, at the append.
        LogAppendTime = "LogAppendTime",
    }
}

/// What happens to old data: `delete`, `compact`, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CleanupPolicy {
    /// Segments past their time or size limits are removed.
    pub delete: bool,
    /// Only the last record of each key is kept.
    pub compact: bool,
}

impl Value for CleanupPolicy {
    const KIND: Kind = Kind::List;

    fn read(text: &str) -> Result<Self, String> {
        let mut policy = Self { delete: false, compact: false };
        for word in text.split(',').map(str::trim) {
            match word {
                "delete" => policy.delete = true,
                "compact" => policy.compact = true,
                _ => return Err("delete, compact, or both with a comma between".to_owned()),
            }
        }
        Ok(policy)
    }

    fn render(&self) -> String {
        match (self.compact, self.delete) {
            (true, true) => "compact,delete".to_owned(),
            (true, false) => "compact".to_owned(),
            (false, _) => "delete".to_owned(),
        }
    }

    fn is_within(&self, _: &Valid) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_held_to_their_type_and_range() {
        assert_eq!(read::<i32>(" 7 ", &Valid::AtLeast(1)).unwrap(), 7);
        assert!(read::<i32>("0", &Valid::AtLeast(1)).is_err());
        assert!(read::<i32>("3000000000", &Valid::Any).is_err());
        assert!(read::<i64>("1.5", &Valid::Any).is_err());
        assert!(read::<f64>("NaN", &Valid::Any).is_err());
        assert!(read::<f64>("1.01", &Valid::Between(0, 1)).is_err());
    }

    #[test]
    fn an_empty_optional_is_not_set() {
        assert_eq!(read::<Option<i64>>("", &Valid::AtLeast(1)).unwrap(), None);
        assert!(read::<Option<i64>>("0", &Valid::AtLeast(1)).is_err());
    }

    #[test]
    fn policies_come_in_any_order() {
        let both = read::<CleanupPolicy>("delete, compact", &Valid::Any).unwrap();
        assert_eq!(both.render(), "compact,delete");
        assert!(read::<CleanupPolicy>("", &Valid::Any).is_err());
        assert!(read::<CleanupPolicy>("delete,shred", &Valid::Any).is_err());
    }

    #[test]
    fn lists_ignore_blanks_and_empty_items() {
        let list: Vec<String> = read("a, b,,c ,", &Valid::Any).unwrap();
        assert_eq!(list, ["a", "b", "c"]);
    }
}
