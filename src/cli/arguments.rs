//! Every word the program understands.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::failure::Failure;
use crate::supervisor::{Wishes, default_data_dir};

/// A terminal console for Kafka clusters, with the cluster inside.
///
/// Without a command, starts the local cluster `dev` (or finds it running) and shows it.
#[derive(Debug, Parser)]
#[command(name = "ottla", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do; the console if nothing is said.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Which cluster the console shows.
    #[command(flatten)]
    pub cluster: ClusterArguments,
    /// How the console looks.
    #[command(flatten)]
    pub console: ConsoleArguments,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start what is missing of the local cluster and leave it running
    Up(ClusterArguments),
    /// Stop the local cluster in an orderly way; its data stays
    Down(DownArguments),
    /// Say how the cluster is
    Status(StatusArguments),
    /// Write and read demo records until interrupted
    Demo(DemoArguments),
    /// Run one broker in the foreground
    Broker(BrokerArguments),
    /// Run the embedded ZooKeeper server in the foreground
    Zookeeper(ZookeeperArguments),
    /// Print a completion script for a shell
    Completions(CompletionArguments),
    /// Print the manual page
    Man,
}

/// Which local cluster, and what it is made of.
#[derive(Debug, Clone, Default, Args)]
pub struct ClusterArguments {
    /// Keep the cluster in this directory [default: the user's data directory]
    #[arg(long, value_name = "DIR", env = "OTTLA_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Call the cluster so [default: dev]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Run this many brokers [default: 3]
    #[arg(long, value_name = "N")]
    pub brokers: Option<u16>,
    /// Use this ZooKeeper instead of the embedded server: host:port,host:port/chroot
    #[arg(long, value_name = "CONNECT")]
    pub zookeeper: Option<String>,
    /// Look for free ports from here on when the cluster is new [default: 2181 and 9092]
    #[arg(long, value_name = "PORT")]
    pub first_port: Option<u16>,
    /// Start brokers with this setting, by Kafka's name; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// How the console looks.
#[derive(Debug, Clone, Args)]
pub struct ConsoleArguments {
    /// The theme: a bundled one by name, or a file
    #[arg(long, value_name = "NAME|FILE", env = "OTTLA_THEME")]
    pub theme: Option<String>,
    /// A file with keys in place of the built-in ones
    #[arg(long, value_name = "FILE", env = "OTTLA_KEYS")]
    pub keys: Option<PathBuf>,
    /// When to use colour; NO_COLOR is honoured unless this says otherwise
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
    /// Draw with ASCII characters only
    #[arg(long)]
    pub ascii: bool,
    /// Leave the mouse to the terminal
    #[arg(long)]
    pub no_mouse: bool,
    /// Write all that the console learns to this file, to be replayed later
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Leave the death of a broker to its ZooKeeper session timeout instead of telling ZooKeeper at once
    #[arg(long)]
    pub slow_death: bool,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// As the terminal and NO_COLOR say.
    Auto,
    /// Whatever they say.
    Always,
    /// Not at all.
    Never,
}

/// Which cluster to stop.
#[derive(Debug, Clone, Args)]
pub struct DownArguments {
    /// Which cluster.
    #[command(flatten)]
    pub cluster: ClusterArguments,
}

/// Which cluster to report on, and how.
#[derive(Debug, Clone, Args)]
pub struct StatusArguments {
    /// Which cluster.
    #[command(flatten)]
    pub cluster: ClusterArguments,
    /// Print JSON in the shape documented in docs/status-json.md
    #[arg(long)]
    pub json: bool,
}

/// What the demo load does.
#[derive(Debug, Clone, Args)]
pub struct DemoArguments {
    /// Which cluster.
    #[command(flatten)]
    pub cluster: ClusterArguments,
    /// Records written per second, over all topics
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub rate: u32,
    /// Members of each consumer group
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub members: u16,
    /// Stop after this many seconds [default: when interrupted]
    #[arg(long, value_name = "SECONDS")]
    pub duration: Option<u64>,
}

/// One broker.
#[derive(Debug, Clone, Args)]
pub struct BrokerArguments {
    /// Kafka's server.properties
    #[arg(value_name = "FILE")]
    pub properties: Option<PathBuf>,
    /// A setting that wins over the file; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// How the process is kept.
    #[command(flatten)]
    pub process: ProcessArguments,
}

/// One embedded ZooKeeper server.
#[derive(Debug, Clone, Args)]
pub struct ZookeeperArguments {
    /// Keep the data here
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
    /// Listen on this port of loopback; 0 for any
    #[arg(long, value_name = "PORT", default_value_t = 2181)]
    pub port: u16,
    /// How the process is kept.
    #[command(flatten)]
    pub process: ProcessArguments,
}

/// How a process that is found again later behaves.
#[derive(Debug, Clone, Args)]
pub struct ProcessArguments {
    /// Write who the process is to this file at once
    #[arg(long, value_name = "FILE")]
    pub pid_file: Option<PathBuf>,
    /// Write where the process serves to this file once it does
    #[arg(long, value_name = "FILE")]
    pub runtime_file: Option<PathBuf>,
    /// Leave the terminal's session, so that closing the terminal does not end the process
    #[arg(long, hide = true)]
    pub detached: bool,
}

/// Which shell.
#[derive(Debug, Clone, Args)]
pub struct CompletionArguments {
    /// The shell
    pub shell: clap_complete::Shell,
}

impl ClusterArguments {
    /// Returns the data directory meant.
    ///
    /// # Errors
    /// When none is given and the user has no home.
    pub fn data_dir(&self) -> Result<PathBuf, Failure> {
        match &self.data_dir {
            Some(path) => Ok(path.clone()),
            None => Ok(default_data_dir()?),
        }
    }

    /// Returns what is wished of the cluster.
    ///
    /// # Errors
    /// When a setting is not `key=value`, or no broker knows it.
    pub fn wishes(&self) -> Result<Wishes, Failure> {
        Ok(Wishes {
            name: self.name.clone(),
            brokers: self.brokers,
            zookeeper: self.zookeeper.clone(),
            first_port: self.first_port,
            settings: settings(&self.set)?,
        })
    }
}

/// Splits `key=value` pairs.
pub(super) fn settings(pairs: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let split = |pair: &String| match pair.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err(Failure::usage(format!("--set {pair}: not of the form key=value"))
            .hint("for example --set log.segment.bytes=1048576")),
    };
    pairs.iter().map(split).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_words_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_setting_may_hold_equals_signs() {
        assert_eq!(settings(&["a = b=c".to_owned()]).unwrap(), [("a".to_owned(), "b=c".to_owned())]);
        assert!(settings(&["=b".to_owned()]).is_err());
        assert!(settings(&["a".to_owned()]).is_err());
    }
}
