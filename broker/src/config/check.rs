//! Settings that must fit together.

use super::broker::BrokerConfig;
use super::error::{ConfigError, Place, Problem};
use super::listener::{Listener, SecurityProtocol};

impl BrokerConfig {
    /// Returns every way in which settings do not fit together.
    #[must_use]
    pub fn check(&self) -> Vec<ConfigError> {
        let mut errors = Vec::new();
        let mut conflict = |key: &str, text: String| {
            errors.push(ConfigError {
                place: Place::Whole,
                key: key.to_owned(),
                problem: Problem::Conflict(text),
            });
        };
        self.check_listeners(&mut conflict);
        if self.broker_id < 0 && !self.broker_id_generation_enable {
            conflict("broker.id", "must be set when broker.id.generation.enable is false".to_owned());
        }
        if self.broker_id > self.reserved_broker_max_id && self.broker_id_generation_enable {
            conflict(
                "broker.id",
                "must not be above reserved.broker.max.id while ids are generated".to_owned(),
            );
        }
        if i64::from(self.replica_fetch_wait_max_ms) > self.replica_lag_time_max_ms {
            conflict("replica.fetch.wait.max.ms", "must not be above replica.lag.time.max.ms".to_owned());
        }
        if self.group_min_session_timeout_ms > self.group_max_session_timeout_ms {
            conflict(
                "group.min.session.timeout.ms",
                "must not be above group.max.session.timeout.ms".to_owned(),
            );
        }
        if !self.inter_broker_protocol_version.starts_with("3.9") {
            conflict("inter.broker.protocol.version", "only 3.9 is spoken between brokers".to_owned());
        }
        errors
    }

    fn check_listeners(&self, conflict: &mut impl FnMut(&str, String)) {
        for listener in &self.listeners {
            match self.protocol_of(&listener.name) {
                None => conflict(
                    "listeners",
                    format!("{} has no protocol in listener.security.protocol.map", listener.name),
                ),
                Some(SecurityProtocol::Plaintext) => {}
                Some(other) => conflict(
                    "listeners",
                    format!("{}: {} is not spoken; use PLAINTEXT", listener.name, other.name()),
                ),
            }
            if self.listeners.iter().filter(|other| other.name == listener.name).count() > 1 {
                conflict("listeners", format!("{} is there more than once", listener.name));
            }
        }
        for listener in &self.advertised_listeners {
            if listener.is_wildcard() {
                conflict(
                    "advertised.listeners",
                    format!("{listener}: clients cannot connect to every interface; name a host"),
                );
            }
            if !self.listeners.iter().any(|other| other.name == listener.name) {
                conflict("advertised.listeners", format!("{} is not among listeners", listener.name));
            }
        }
        if self.advertised_listeners.is_empty() && self.listeners.iter().any(Listener::is_wildcard) {
            conflict(
                "advertised.listeners",
                "must be set when a listener binds every interface, or clients cannot know a host".to_owned(),
            );
        }
        if self.inter_broker_listener().is_none() {
            conflict("inter.broker.listener.name", "no such listener among listeners".to_owned());
        }
    }

    /// Returns the protocol of the listener called `name`.
    #[must_use]
    pub fn protocol_of(&self, name: &str) -> Option<SecurityProtocol> {
        self.listener_security_protocol_map.iter().find_map(|entry| {
            let (listener, protocol) = entry.split_once(':')?;
            if listener.trim().eq_ignore_ascii_case(name) {
                SecurityProtocol::from_name(protocol.trim())
            } else {
                None
            }
        })
    }

    /// Returns the name of the listener that brokers use among each other.
    #[must_use]
    pub fn inter_broker_listener(&self) -> Option<&str> {
        let named = |listener: &&Listener| match &self.inter_broker_listener_name {
            Some(name) => listener.name.eq_ignore_ascii_case(name),
            None => {
                self.protocol_of(&listener.name).map(SecurityProtocol::name)
                    == Some(self.security_inter_broker_protocol.as_str())
            }
        };
        self.listeners.iter().find(named).map(|listener| listener.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(pairs: &[(&str, &str)]) -> Vec<String> {
        let mut config = BrokerConfig::default();
        for (key, value) in pairs {
            config.set(key, value).unwrap();
        }
        config.check().iter().map(|error| error.key.clone()).collect()
    }

    #[test]
    fn listeners_must_be_spoken_reachable_and_unique() {
        type Pairs<'a> = &'a [(&'a str, &'a str)];
        let cases: &[(Pairs<'_>, &[&str])] = &[
            (&[], &[]),
            (&[("listeners", "SSL://127.0.0.1:1")], &["listeners", "inter.broker.listener.name"]),
            (&[("listeners", "ODD://127.0.0.1:1")], &["listeners", "inter.broker.listener.name"]),
            (&[("listeners", "PLAINTEXT://:1")], &["advertised.listeners"]),
            (&[("listeners", "PLAINTEXT://:1"), ("advertised.listeners", "PLAINTEXT://h:1")], &[]),
            (
                &[
                    ("listeners", "PLAINTEXT://127.0.0.1:1,REPL://127.0.0.1:2"),
                    ("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,REPL:PLAINTEXT"),
                    ("inter.broker.listener.name", "REPL"),
                ],
                &[],
            ),
        ];
        for (pairs, expected) in cases {
            assert_eq!(problems(pairs), *expected, "{pairs:?}");
        }
    }

    #[test]
    fn the_inter_broker_listener_is_named_or_found_by_protocol() {
        let mut config = BrokerConfig::default();
        assert_eq!(config.inter_broker_listener(), Some("PLAINTEXT"));
        config.set("inter.broker.listener.name", "OTHER").unwrap();
        assert_eq!(config.inter_broker_listener(), None);
    }
}
