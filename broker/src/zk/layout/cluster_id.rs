//! `/cluster/id`: the cluster's name for ever, written by its first broker.

use serde::{Deserialize, Serialize};

use super::LayoutError;
use super::error::{parse, render};

/// The node's path.
pub const PATH: &str = "/cluster/id";

#[derive(Serialize, Deserialize)]
struct Node {
    version: String,
    id: String,
}

/// Returns the node's data for the cluster `id`.
#[must_use]
pub fn encode(id: &str) -> Vec<u8> {
    render(&Node { version: "1".to_owned(), id: id.to_owned() })
}

/// Returns the cluster id that `data` holds.
///
/// # Errors
/// When the data is not the node's JSON, or the id is empty.
pub fn decode(data: &[u8]) -> Result<String, LayoutError> {
    let node: Node = parse(PATH, data)?;
    if node.id.is_empty() {
        return Err(LayoutError::invalid(PATH, "the id is empty"));
    }
    Ok(node.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &[u8] = br#"{"version":"1","id":"kR3qMCp1QGiJb0yq2m5zvA"}"#;

    #[test]
    fn both_fields_are_strings() {
        assert_eq!(encode("kR3qMCp1QGiJb0yq2m5zvA"), DATA);
        assert_eq!(decode(DATA).unwrap(), "kR3qMCp1QGiJb0yq2m5zvA");
    }

    #[test]
    fn an_empty_node_is_an_error_that_names_it() {
        assert!(decode(b"").unwrap_err().to_string().contains("/cluster/id"));
    }
}
