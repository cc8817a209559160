//! The tables as a page for people.

use std::fmt::Write as _;

use super::broker::BrokerConfig;
use super::key::Key;
use super::topic::TopicConfig;

/// Returns the reference of all keys as Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = String::from(
        "# Configuration\n\nEvery key that Ottla takes, made from the tables that also read and check them. A key that Kafka \
         knows and that\nis not here is a warning; any other is an error.\n\n## Broker keys\n\n",
    );
    page.push_str("| key | type | default | allowed | changes | meaning |\n|---|---|---|---|---|---|\n");
    for key in BrokerConfig::KEYS {
        row(&mut page, key, key.default, key.update.name());
    }
    page.push_str("\n## Topic keys\n\n");
    page.push_str("| key | type | default from | allowed | changes | meaning |\n|---|---|---|---|---|---|\n");
    for topic in TopicConfig::KEYS {
        row(&mut page, &topic.key, topic.broker_key, "while running");
    }
    page
}

fn row(page: &mut String, key: &Key, default: &str, changes: &str) {
    let default = if default.is_empty() { "–".to_owned() } else { format!("`{default}`") };
    writeln!(
        page,
        "| `{}` | {} | {default} | {} | {changes} | {} |",
        key.name,
        key.kind.name(),
        key.valid,
        key.doc
    )
    .expect("writing to a String does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `OTTLA_DOCS=1 cargo test -p ottla-broker reference` writes the page anew.
    #[test]
    fn the_page_in_docs_is_not_stale() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md");
        if std::env::var_os("OTTLA_DOCS").is_some() {
            std::fs::write(path, reference()).unwrap();
        }
        // The published crate comes without the page.
        if let Ok(page) = std::fs::read_to_string(path) {
            assert!(page == reference(), "docs/configuration.md is stale: run this test with OTTLA_DOCS=1");
        }
    }

    #[test]
    fn every_key_has_its_row() {
        let page = reference();
        assert_eq!(page.matches("\n| `").count(), BrokerConfig::KEYS.len() + TopicConfig::KEYS.len());
        assert!(page.contains("| `num.io.threads` | int | `8` | 1 to 1024 | cluster-wide |"));
    }
}
