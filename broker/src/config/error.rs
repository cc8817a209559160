//! What can be wrong with a configuration, and where.

use std::fmt;
use std::path::PathBuf;

/// Where a setting was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a file.
    File {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
    },
    /// As a `key=value` pair on the command line.
    Argument,
    /// In the nodes that change a running broker.
    Dynamic,
    /// Nowhere: the settings do not fit together, or one is missing.
    Whole,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Argument => f.write_str("--set"),
            Self::Dynamic => f.write_str("dynamic configuration"),
            Self::Whole => f.write_str("configuration"),
        }
    }
}

/// What is wrong with a setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Neither Kafka nor Ottla has such a key.
    #[error("no such key{}", nearest.as_ref().map(|name| format!("; did you mean {name}?")).unwrap_or_default())]
    Unknown {
        /// The most similar key, when one is similar enough.
        nearest: Option<String>,
    },
    /// The text is not a value of the key.
    #[error("{value:?} is not a value for it: expected {expected}")]
    BadValue {
        /// What was written.
        value: String,
        /// What would have been right.
        expected: String,
    },
    /// The line is not a setting.
    #[error("{0}")]
    BadLine(String),
    /// It does not fit with other settings.
    #[error("{0}")]
    Conflict(String),
}

/// One mistake in a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {key}: {problem}")]
pub struct ConfigError {
    /// Where it was written.
    pub place: Place,
    /// The key, or the text that should have been one.
    pub key: String,
    /// What is wrong.
    pub problem: Problem,
}

/// All mistakes of a configuration, in the order of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

/// A setting that is taken, with something to know about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where it was written.
    pub place: Place,
    /// The key.
    pub key: String,
    /// What to know, as a fragment.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.key, self.text)
    }
}
