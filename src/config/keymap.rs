//! A key map file: which keys mean what, where that differs from the built-in keys.
//!
//! ```toml
//! [keys]
//! "broker.kill" = "K"            # one key
//! "move.down" = ["j", "down"]    # or several
//! "group.add-member" = []        # or none
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use super::key::{Key, KeyError};

/// Which keys mean what, where that differs from the built-in keys. Names are those of the binding table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Keymap {
    /// The keys of each named action.
    pub keys: BTreeMap<String, Vec<Key>>,
}

/// A key map that cannot be read.
#[derive(Debug, Error)]
pub enum KeymapError {
    /// It is no TOML of the right shape.
    #[error("key map: {0}")]
    Shape(#[from] toml::de::Error),
    /// A key cannot be read.
    #[error("key map: keys of \"{action}\": {source}")]
    Key {
        /// Whose key.
        action: String,
        /// Why not.
        source: KeyError,
    },
    /// It names something that cannot be bound.
    #[error("key map: there is no action \"{action}\"; the help page of the documentation lists their names")]
    UnknownAction {
        /// What it names.
        action: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    keys: BTreeMap<String, OneOrMore>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl Keymap {
    /// Reads a key map file, given the names that can be bound.
    ///
    /// # Errors
    /// Says what is wrong and where.
    pub fn parse(text: &str, known: impl Fn(&str) -> bool) -> Result<Self, KeymapError> {
        let file: File = toml::from_str(text)?;
        let mut keys = BTreeMap::new();
        for (action, list) in file.keys {
            if !known(&action) {
                return Err(KeymapError::UnknownAction { action });
            }
            let list = match list {
                OneOrMore::One(key) => vec![key],
                OneOrMore::More(list) => list,
            };
            let parsed: Result<Vec<Key>, _> = list.iter().map(|key| key.parse()).collect();
            match parsed {
                Ok(parsed) => keys.insert(action, parsed),
                Err(source) => return Err(KeymapError::Key { action, source }),
            };
        }
        Ok(Self { keys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_map_names_actions_and_keys() {
        let text = "[keys]\n\"a.b\" = \"K\"\n\"c.d\" = [\"j\", \"down\"]\n\"e.f\" = []\n";
        let map = Keymap::parse(text, |_| true).unwrap();
        assert_eq!(map.keys["a.b"], [Key::Char('K')]);
        assert_eq!(map.keys["c.d"], [Key::Char('j'), Key::Down]);
        assert!(map.keys["e.f"].is_empty());
    }

    #[test]
    fn mistakes_are_named() {
        let error = Keymap::parse("[keys]\n\"a.b\" = \"KK\"", |_| true).unwrap_err();
        assert!(error.to_string().contains("keys of \"a.b\": \"KK\" is no key"), "{error}");
        let error = Keymap::parse("[keys]\n\"a.b\" = \"K\"", |_| false).unwrap_err();
        assert!(error.to_string().contains("no action \"a.b\""), "{error}");
        assert!(Keymap::parse("[key]\nx = 1", |_| true).is_err());
    }
}
