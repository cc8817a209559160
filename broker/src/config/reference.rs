//! The tables as a page for people.

use std::fmt::Write as _;

use super::broker::BrokerConfig;
use super::key::Key;
use super::topic::TopicConfig;

/// Returns the reference of all keys as Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = String::from("## Broker keys\n\n");
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

    #[test]
    fn every_key_has_its_row() {
        let page = reference();
        assert_eq!(page.matches("\n| `").count(), BrokerConfig::KEYS.len() + TopicConfig::KEYS.len());
        assert!(page.contains("| `num.io.threads` | int | `8` | 1 to 1024 | cluster-wide |"));
    }
}
