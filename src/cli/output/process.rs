//! The lives of processes as lines of text.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is the place that prints")]

use ottla_broker::types::Millis;

use crate::cli::failure::Failure;
use crate::supervisor::machine::Machine;
use crate::supervisor::{ClusterSpec, Layout, Life, Notice, Role, Said};

/// Prints a line of result.
pub(in crate::cli) fn line(text: &str) {
    println!("{text}");
}

/// Prints what went wrong and what to do.
pub(in crate::cli) fn failure(failure: &Failure) {
    eprintln!("ottla: {failure}");
    if let Some(advice) = failure.advice() {
        eprintln!("  {advice}");
    }
}

/// Prints something that is not wrong but should be known.
pub(in crate::cli) fn warning(what: &dyn std::fmt::Display) {
    eprintln!("ottla: warning: {what}");
}

/// Prints what the supervisor said.
pub(in crate::cli) fn said(spec: &ClusterSpec, said: &Said) {
    match said {
        Said::Notice(notice) => print_notice(notice),
        Said::SteppedOver { role, port, taken } => {
            println!("{role} on port {port}: {} taken by other programs", ports(taken));
        }
        Said::WaitingFor(pid) => {
            eprintln!(
                "another ottla (process {pid}) is starting or stopping '{}'; waiting for it",
                spec.name
            );
        }
        Said::Farewell { outcome: Ok(_), .. } => {}
        Said::Farewell { role, outcome: Err(why) } => {
            eprintln!("{role}: its death is left to the session timeout: {why}");
        }
    }
}

/// Prints where the cluster is to be found.
pub(in crate::cli) fn cluster_line(spec: &ClusterSpec, layout: &Layout, machine: &Machine) {
    let brokers = machine.lives().filter(|(role, _)| *role != Role::Zookeeper);
    let (mut up, mut all) = (0, 0);
    for (_, life) in brokers {
        all += 1;
        up += u32::from(matches!(life, Life::Running { .. }));
    }
    println!("{}: {up} of {all} brokers up", spec.name);
    println!("  bootstrap  {}", spec.bootstrap());
    println!("  zookeeper  {}", spec.zookeeper_connect());
    println!("  data       {}", layout.root().display());
}

fn print_notice(notice: &Notice) {
    match notice {
        // That something was found as it should be is no news.
        Notice::Starting(_) | Notice::Stopping(_) | Notice::Ready { took: None, .. } => {}
        Notice::Ready { role, address, took: Some(Millis(ms)) } => {
            println!("{role} up at {address} after {ms} ms")
        }
        Notice::StartFailed { role, why } => eprintln!("{role} did not start: {why}"),
        Notice::Slow(role) => eprintln!("{role} runs but does not serve yet; still waiting"),
        Notice::Overdue(role) => eprintln!("{role} did not stop in time and was killed"),
        Notice::Stopped(role) => println!("{role} stopped"),
        Notice::Died { role, ending } => eprintln!("{role} died: {ending}"),
        Notice::Frozen(role) => println!("{role} frozen"),
        Notice::Thawed(role) => println!("{role} thawed"),
        Notice::StaleFiles(role) => println!("{role} had died unnoticed; its pid file was removed"),
        Notice::Refused { role, why } => eprintln!("{role}: {why}"),
    }
}

fn ports(taken: &[u16]) -> String {
    match taken {
        [] => String::new(),
        [only] => format!("{only} is"),
        [first, .., last] => format!("{first} to {last} are"),
    }
}
