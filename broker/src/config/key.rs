//! What a table says about a key, and the macro that makes a typed struct of a table.

/// One row of a table of keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// Kafka's name of the key, or one beginning with `ottla.`.
    pub name: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// The default as it would be written in a file; empty means not set.
    pub default: &'static str,
    /// Which values are allowed.
    pub valid: Valid,
    /// Whether and how it changes while the broker runs.
    pub update: Update,
    /// What it does, for people.
    pub doc: &'static str,
}

/// The type of a value, as DescribeConfigs reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// A text.
    String,
    /// A number of 32 bits.
    Int,
    /// A number of 64 bits.
    Long,
    /// A number with a fraction.
    Double,
    /// Texts separated by commas.
    List,
}

impl Kind {
    /// Returns the number DescribeConfigs v3 uses (Kafka's `ConfigEntry.ConfigType`).
    #[must_use]
    pub fn code(self) -> i8 {
        match self {
            Self::Boolean => 1,
            Self::String => 2,
            Self::Int => 3,
            Self::Long => 5,
            Self::Double => 6,
            Self::List => 7,
        }
    }

    /// Returns the word used in the reference and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::String => "string",
            Self::Int => "int",
            Self::Long => "long",
            Self::Double => "double",
            Self::List => "list",
        }
    }
}

/// Which values a key takes beyond its type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Valid {
    /// Everything that its type can hold.
    Any,
    /// This number or more.
    AtLeast(i64),
    /// From the first to the second number, both included.
    Between(i64, i64),
    /// One of these words (for a list: each of its items).
    OneOf(&'static [&'static str]),
    /// A text that is not empty.
    NotEmpty,
}

impl std::fmt::Display for Valid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::AtLeast(low) => write!(f, "{low} or more"),
            Self::Between(low, high) => write!(f, "{low} to {high}"),
            Self::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Self::NotEmpty => f.write_str("not empty"),
        }
    }
}

/// How a key changes, in Kafka's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// Only with a restart.
    ReadOnly,
    /// While running, for one broker or as the default of all.
    PerBroker,
    /// While running; Kafka's tools set it for the whole cluster, a single broker may differ.
    ClusterWide,
}

impl Update {
    /// Returns the word used in the reference.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::PerBroker => "per-broker",
            Self::ClusterWide => "cluster-wide",
        }
    }
}

/// Makes a struct with one typed field for each row, its table and its access by name.
macro_rules! config_table {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident;
        $($key:literal $field:ident: $type:ty = $default:literal, $valid:expr, $update:ident, $doc:literal;)+
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq)]
        $visibility struct $name {
            $(
                #[doc = concat!("`", $key, "`: ", $doc)]
                pub $field: $type,
            )+
        }

        impl $name {
            /// The table this struct was made from.
            pub const KEYS: &'static [$crate::config::Key] = &[$(
                $crate::config::Key {
                    name: $key,
                    kind: <$type as $crate::config::Value>::KIND,
                    default: $default,
                    valid: $valid,
                    update: $crate::config::Update::$update,
                    doc: $doc,
                },
            )+];

            /// Returns the row of `name`.
            #[must_use]
            pub fn key(name: &str) -> Option<&'static $crate::config::Key> {
                Self::KEYS.iter().find(|key| key.name == name)
            }

            /// Sets the key `name` from its text.
            ///
            /// # Errors
            /// When there is no such key, or the text is not one of its values.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), $crate::config::Problem> {
                match name {
                    $($key => self.$field = $crate::config::value::read(text, &$valid)?,)+
                    _ => return Err($crate::config::Problem::Unknown { nearest: None }),
                }
                Ok(())
            }

            /// Returns the value of the key `name` as text; empty when it is not set.
            #[must_use]
            pub fn get(&self, name: &str) -> Option<String> {
                match name {
                    $($key => Some($crate::config::Value::render(&self.$field)),)+
                    _ => None,
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $crate::config::value::declared_default($default, &$valid),)+ }
            }
        }
    };
}

pub(crate) use config_table;
