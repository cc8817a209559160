//! From the command to the first frame, and to three brokers registered.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use ottla_test_support::{Cluster, LONG, Options, SHORT, Screen};

use crate::table::{Table, median, ms, time};

const ROUNDS: usize = 5;

pub(crate) fn measure(program: &str, table: &mut Table) {
    let spawn = median(ROUNDS, || time(|| assert!(Command::new("/bin/true").status().unwrap().success())));
    let frame = median(ROUNDS, || first_frame(program));
    table.row("start to first frame", ms(frame), format!("{} to run /bin/true", ms(spawn)));
    let registered = median(ROUNDS, || three_brokers(program));
    table.row(
        "start to three brokers registered (`ottla up`, new cluster)",
        ms(registered),
        format!("{} to run /bin/true four times", ms(spawn * 4)),
    );
}

/// A frame is there when the screen has a line of text at its bottom, where the keys are.
fn first_frame(program: &str) -> Duration {
    let cluster = Cluster::prepare(program, Options::default());
    let arguments = cluster.arguments();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let started = Instant::now();
    let screen = Screen::start(Path::new(program), &arguments, &[], 120, 36);
    let elapsed = loop {
        if screen.text().lines().last().is_some_and(|line| line.contains("help")) {
            break started.elapsed();
        }
        assert!(started.elapsed() < SHORT, "no frame:\n{}", screen.text());
        thread::sleep(Duration::from_millis(1));
    };
    screen.wait_for("three brokers up", LONG, |text| text.contains("3/3"));
    elapsed
}

fn three_brokers(program: &str) -> Duration {
    let cluster = Cluster::prepare(program, Options::default());
    time(|| {
        let mut command = Command::new(program);
        command.arg("up").args(cluster.arguments()).stdin(Stdio::null()).stdout(Stdio::null());
        assert!(command.status().unwrap().success());
    })
}
