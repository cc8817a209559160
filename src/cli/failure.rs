//! What a person reads when a command fails: what happened, to what, and what to do.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use crate::supervisor::DataDirError;

/// A failed command.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    message: String,
    hint: Option<String>,
}

/// What kind of failure, and with it the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It was tried and did not work.
    Failed,
    /// The words of the command do not fit each other or the cluster.
    Usage,
    /// There is no running cluster to do it to.
    NotRunning,
}

impl Failure {
    /// Says that it was tried and did not work.
    pub fn failed(message: impl fmt::Display) -> Self {
        Self { kind: Kind::Failed, message: message.to_string(), hint: None }
    }

    /// Says that the words of the command are wrong.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { kind: Kind::Usage, message: message.to_string(), hint: None }
    }

    /// Says that there is nothing running to do it to.
    pub fn not_running(message: impl fmt::Display) -> Self {
        Self { kind: Kind::NotRunning, message: message.to_string(), hint: None }
    }

    /// Says that something could not be done because of an error below; the whole chain of causes is told.
    pub fn because(action: impl fmt::Display, error: &dyn Error) -> Self {
        let mut message = format!("{action}: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !message.ends_with(&text) {
                message = format!("{message}: {text}");
            }
            cause = error.source();
        }
        Self::failed(message)
    }

    /// Adds what the person can do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Returns what to do about it, if anything is known.
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the exit code for this kind of failure.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            Kind::Failed => 1,
            Kind::Usage => 2,
            Kind::NotRunning => 3,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<DataDirError> for Failure {
    fn from(error: DataDirError) -> Self {
        match error {
            DataDirError::Absent(_) => Self::not_running(error),
            DataDirError::Foreign(_) | DataDirError::Wish { .. } => Self::usage(error),
            DataDirError::Damaged { .. } | DataDirError::Io { .. } | DataDirError::Homeless => {
                Self::failed(error)
            }
        }
    }
}
