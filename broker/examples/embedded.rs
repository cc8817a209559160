//! A broker inside another program: `cargo run -p ottla-broker --example embedded -- [key=value ...]`.
//!
//! Without `zookeeper.connect` among the settings it brings a ZooKeeper server along, in memory. Everything lies in a
//! temporary folder unless `log.dirs` says otherwise. It runs until its standard input ends.
#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use std::error::Error;
use std::io::Read as _;

use ottla_broker::{Broker, BrokerOptions, config};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let zookeeper = ottla_zookeeper::Server::builder().in_memory().ephemeral_port().start()?;
    let mut settings = vec![
        ("broker.id".to_owned(), "1".to_owned()),
        ("listeners".to_owned(), "PLAINTEXT://127.0.0.1:0".to_owned()),
        ("log.dirs".to_owned(), folder.path().display().to_string()),
        ("zookeeper.connect".to_owned(), zookeeper.local_addr().to_string()),
        ("offsets.topic.replication.factor".to_owned(), "1".to_owned()),
    ];
    for argument in std::env::args().skip(1) {
        let (key, value) = argument.split_once('=').ok_or("settings are written key=value")?;
        settings.push((key.to_owned(), value.to_owned()));
    }
    let loaded = config::load(None, &settings)?;
    let options = BrokerOptions { origin: loaded.origin, ..BrokerOptions::default() };
    let broker = Broker::start(loaded.config, options)?;
    for listener in broker.bound() {
        println!("{} {}", listener.name, listener.address);
    }
    // Whoever started this closes its input to stop it.
    std::io::stdin().read_to_end(&mut Vec::new())?;
    broker.shutdown();
    zookeeper.stop()?;
    Ok(())
}
