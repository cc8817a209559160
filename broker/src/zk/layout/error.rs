//! What is wrong with a node.

use thiserror::Error;

/// A node's data that cannot be understood.
#[derive(Debug, Error)]
pub enum LayoutError {
    /// The data is not the JSON that this kind of node holds.
    #[error("read {node}: {source}")]
    Json {
        /// The node's path, or its kind where the path is not known.
        node: String,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// The JSON is well formed and says something impossible.
    #[error("read {node}: {reason}")]
    Invalid {
        /// The node's path, or its kind where the path is not known.
        node: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl LayoutError {
    pub(super) fn invalid(node: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid { node: node.into(), reason: reason.into() }
    }
}

/// Parses `data` as JSON, naming `node` when it is not.
pub(super) fn parse<'a, T: serde::Deserialize<'a>>(node: &str, data: &'a [u8]) -> Result<T, LayoutError> {
    serde_json::from_slice(data).map_err(|source| LayoutError::Json { node: node.to_owned(), source })
}

/// Renders `value` as compact JSON.
pub(super) fn render<T: serde::Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("maps have string or integer keys and nothing else can fail")
}

/// Checks that a node's `version` is one that its readers know.
pub(super) fn check_version(
    node: &str,
    version: i32,
    known: std::ops::RangeInclusive<i32>,
) -> Result<(), LayoutError> {
    if known.contains(&version) {
        Ok(())
    } else {
        let (low, high) = known.into_inner();
        Err(LayoutError::invalid(node, format!("version {version} is not one of {low} to {high}")))
    }
}
