//! Pages that are made from the program are the same as what the program says.

use std::fs;
use std::path::PathBuf;

use ottla::config::{BUILTIN_THEMES, Theme};
use ottla::model::Status;
use ottla::view::manual;

use crate::story::Story;

fn page(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)
}

#[test]
fn the_page_of_keys_is_the_table_of_keys() {
    let path = page("keys.md");
    if std::env::var_os("OTTLA_SCREENSHOTS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, manual()).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == manual(), "docs/keys.md is stale; OTTLA_SCREENSHOTS=write cargo test --test screens");
}

#[test]
fn the_page_of_themes_names_every_theme_and_slot() {
    let written = fs::read_to_string(page("themes.md")).unwrap();
    let themes = BUILTIN_THEMES.iter().map(|(name, _)| *name);
    // Numbered slots are named by their first and last.
    let slots = Theme::SLOTS.iter().copied().filter(|slot| !matches!(*slot, "series-2" | "series-3"));
    let missing: Vec<_> =
        themes.chain(slots).filter(|name| !written.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/themes.md says nothing of {missing:?}");
}

#[test]
fn the_page_of_the_status_names_every_field() {
    let story = Story::failover();
    let status = serde_json::to_value(Status::of(&story.model, story.now)).unwrap();
    let written = fs::read_to_string(page("status-json.md")).unwrap();
    let mut missing = Vec::new();
    collect_missing(&status, &written, &mut missing);
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "docs/status-json.md says nothing of {missing:?}");
}

fn collect_missing(value: &serde_json::Value, page: &str, missing: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                if !page.contains(&format!("`{name}`")) {
                    missing.push(name.clone());
                }
                // The keys of this one are names of topics.
                if name != "assignment" {
                    collect_missing(value, page, missing);
                }
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| collect_missing(value, page, missing)),
        _ => {}
    }
}

#[test]
fn the_status_of_a_cluster_keeps_its_shape() {
    let mut status = Status::of(&Story::failover().model, Story::failover().now);
    status.topics.retain(|topic| topic.name == "shipments-by-region-and-carrier");
    status.groups.retain(|group| group.group == "billing");
    insta::assert_json_snapshot!("status", status);
}
