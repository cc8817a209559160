//! kcat, a client built on librdkafka.

use std::process::{Command, Output, Stdio};

/// The kcat on this machine.
#[derive(Debug, Clone)]
pub struct Kcat {
    bootstrap: String,
}

impl Kcat {
    /// Finds kcat, to be used with this cluster; `None` when the machine has none.
    pub fn find(bootstrap: &str) -> Option<Self> {
        let found = Command::new("kcat").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
        found.is_ok_and(|status| status.success()).then(|| Self { bootstrap: bootstrap.to_owned() })
    }

    /// Says how to get one.
    pub fn remedy() -> &'static str {
        "`apt-get install kcat` brings it"
    }

    /// Returns a command with these arguments, not yet run.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("kcat");
        command.arg("-b").arg(&self.bootstrap).args(arguments);
        command
    }

    /// Runs kcat to its end and returns what it printed.
    ///
    /// # Panics
    /// When it fails.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).stdin(Stdio::null()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kcat {arguments:?}: {}\n{error}", output.status);
        output
    }
}
