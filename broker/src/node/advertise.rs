//! What a broker says about itself in its registration.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::config::{BrokerConfig, Listener, SecurityProtocol};
use crate::net::BoundListener;
use crate::types::Millis;
use crate::zk::layout::broker::{Endpoint, Registration};

/// Returns the registration of a broker whose listeners are bound.
pub(crate) fn registration(config: &BrokerConfig, bound: &[BoundListener]) -> Registration {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Registration {
        endpoints: advertised(config, bound).iter().map(|listener| endpoint(config, listener)).collect(),
        rack: config.broker_rack.clone(),
        jmx_port: -1,
        timestamp: Millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)),
        features: BTreeMap::new(),
    }
}

/// The advertised listeners; a port 0 stands for the one that was really bound.
fn advertised(config: &BrokerConfig, bound: &[BoundListener]) -> Vec<Listener> {
    let listeners = match config.advertised_listeners.as_slice() {
        [] => &config.listeners,
        advertised => advertised,
    };
    let port_of = |listener: &Listener| match listener.port {
        0 => bound.iter().find(|it| *it.name == *listener.name).map_or(0, |it| it.address.port()),
        port => port,
    };
    listeners.iter().map(|listener| Listener { port: port_of(listener), ..listener.clone() }).collect()
}

fn endpoint(config: &BrokerConfig, listener: &Listener) -> Endpoint {
    Endpoint {
        listener: listener.name.clone(),
        host: listener.host.clone(),
        port: i32::from(listener.port),
        protocol: config.protocol_of(&listener.name).unwrap_or(SecurityProtocol::Plaintext),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_port_chosen_by_the_system_is_told() {
        let mut config = BrokerConfig::default();
        config.set("listeners", "PLAINTEXT://127.0.0.1:0").unwrap();
        let bound =
            [BoundListener { name: Arc::from("PLAINTEXT"), address: "127.0.0.1:4711".parse().unwrap() }];
        let told = |config: &BrokerConfig| registration(config, &bound).endpoints[0].to_string();
        assert_eq!(told(&config), "PLAINTEXT://127.0.0.1:4711");
        config.set("advertised.listeners", "PLAINTEXT://broker.example:9092").unwrap();
        assert_eq!(told(&config), "PLAINTEXT://broker.example:9092");
    }
}
