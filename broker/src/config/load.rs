//! Settings from a file and from pairs, as a configuration or as all its mistakes.

use std::collections::BTreeMap;
use std::path::Path;

use super::broker::BrokerConfig;
use super::error::{ConfigError, ConfigErrors, Place, Problem, Warning};
use super::known::is_known_unsupported;
use super::properties::parse_properties;

/// A configuration that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The configuration.
    pub config: BrokerConfig,
    /// What was set, by key, as it was written: everything else is a default.
    pub origin: Origin,
    /// What to tell the operator.
    pub warnings: Vec<Warning>,
}

/// The settings that were written down, as text by key.
pub type Origin = BTreeMap<String, String>;

/// Reads a configuration from the text of a `server.properties` file, if there is one, and from pairs that win over it.
///
/// # Errors
/// Every mistake, with file and line.
pub fn load(file: Option<(&Path, &str)>, pairs: &[(String, String)]) -> Result<Loaded, ConfigErrors> {
    let mut loading = Loading::default();
    if let Some((path, text)) = file {
        loading.file(path, text);
    }
    for (key, value) in pairs {
        loading.setting(Place::Argument, key, value);
    }
    if loading.errors.is_empty() {
        loading.errors.extend(loading.config.check());
    }
    if loading.errors.is_empty() {
        Ok(Loaded { config: loading.config, origin: loading.origin, warnings: loading.warnings })
    } else {
        Err(ConfigErrors(loading.errors))
    }
}

#[derive(Default)]
struct Loading {
    config: BrokerConfig,
    origin: Origin,
    warnings: Vec<Warning>,
    errors: Vec<ConfigError>,
}

impl Loading {
    fn file(&mut self, path: &Path, text: &str) {
        let place = |line| Place::File { path: path.to_owned(), line };
        match parse_properties(text) {
            Ok(properties) => {
                for property in properties {
                    self.setting(place(property.line), &property.key, &property.value);
                }
            }
            Err((line, problem)) => self.errors.push(ConfigError {
                place: place(line),
                key: "line".to_owned(),
                problem: Problem::BadLine(problem),
            }),
        }
    }

    fn setting(&mut self, place: Place, key: &str, value: &str) {
        if BrokerConfig::key(key).is_none() {
            self.foreign(place, key);
            return;
        }
        match self.config.set(key, value) {
            Ok(()) => {
                self.origin.insert(key.to_owned(), value.trim().to_owned());
            }
            Err(problem) => self.errors.push(ConfigError { place, key: key.to_owned(), problem }),
        }
    }

    fn foreign(&mut self, place: Place, key: &str) {
        let key = key.to_owned();
        if is_known_unsupported(&key) {
            let text = "Kafka has this key, Ottla does not act on it".to_owned();
            self.warnings.push(Warning { place, key, text });
        } else {
            let nearest = nearest_key(&key);
            self.errors.push(ConfigError { place, key, problem: Problem::Unknown { nearest } });
        }
    }
}

/// The key with the fewest edits, if these are few for its length.
fn nearest_key(name: &str) -> Option<String> {
    let candidates = BrokerConfig::KEYS.iter().map(|key| (edits(name, key.name), key.name));
    let (distance, nearest) = candidates.min_by_key(|(distance, _)| *distance)?;
    (distance <= 2 + name.len() / 8).then(|| nearest.to_owned())
}

/// Levenshtein's distance.
fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut before = i + 1;
        if let Some(first) = row.first_mut() {
            *first = before;
        }
        for (cell, right) in row.iter_mut().skip(1).zip(b.bytes()) {
            let replaced = diagonal + usize::from(left != right);
            diagonal = *cell;
            before = replaced.min(diagonal + 1).min(before + 1);
            *cell = before;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, pairs: &[(&str, &str)]) -> Result<Loaded, ConfigErrors> {
        let pairs: Vec<_> = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        load(Some((Path::new("server.properties"), text)), &pairs)
    }

    #[test]
    fn pairs_win_over_the_file_and_both_are_remembered() {
        let loaded = read("broker.id=1\nnum.io.threads=4\n", &[("broker.id", "2")]).unwrap();
        assert_eq!((loaded.config.broker_id, loaded.config.num_io_threads), (2, 4));
        assert_eq!(loaded.origin.get("broker.id").map(String::as_str), Some("2"));
        assert!(!loaded.origin.contains_key("log.dirs"));
    }

    #[test]
    fn every_mistake_is_told_with_its_line() {
        let text = "broker.id=one\n\nnum.io.thread=4\nqueued.max.requests=0\n";
        let told = read(text, &[("nonsense.of.mine", "1")]).unwrap_err().to_string();
        let expected = "server.properties:1: broker.id: \"one\" is not a value for it: expected a whole number of at most 32 bits\n\
             server.properties:3: num.io.thread: no such key; did you mean num.io.threads?\n\
             server.properties:4: queued.max.requests: \"0\" is not a value for it: expected 1 to 1000000\n\
             --set: nonsense.of.mine: no such key";
        assert_eq!(told, expected);
    }

    #[test]
    fn a_key_of_kafka_is_a_warning_that_names_it() {
        let loaded = read("ssl.keystore.location=/k\n", &[]).unwrap();
        let told: Vec<_> = loaded.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["server.properties:1: ssl.keystore.location: Kafka has this key, Ottla does not act on it"]
        );
    }

    #[test]
    fn settings_that_do_not_fit_together_are_a_mistake() {
        let told = read("replica.fetch.wait.max.ms=40000\n", &[]).unwrap_err().to_string();
        assert!(told.contains("replica.lag.time.max.ms"), "{told}");
    }
}
