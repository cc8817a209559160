//! Groups of librdkafka's consumers balance, survive a death, and go on where they stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};

use ottla_test_support::{Cluster, Kcat, LONG, Options, skip, wait_until};
use serde_json::Value;

use crate::OTTLA;

const TOPIC: &str = "work";
const PARTITIONS: usize = 6;

/// A member that is killed with the test.
struct Member(Child);

impl Drop for Member {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn member(kcat: &Kcat, name: &str) -> Member {
    let client = format!("client.id={name}");
    let arguments = [
        "-G",
        "workers",
        "-q",
        "-X",
        &client,
        "-X",
        "session.timeout.ms=6000",
        "-X",
        "auto.offset.reset=earliest",
        "-X",
        "auto.commit.interval.ms=200",
        TOPIC,
    ];
    let mut command = kcat.command(&arguments);
    Member(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

fn group(status: &Value) -> Option<&Value> {
    status["groups"].as_array()?.iter().find(|group| group["group"] == "workers")
}

/// The partitions of each member, when the group is stable and they cover the topic.
fn assignment(status: &Value) -> Option<BTreeMap<String, Vec<i64>>> {
    let group = group(status).filter(|group| group["state"] == "stable")?;
    let mut all = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for member in group["members"].as_array()? {
        let partitions: Vec<i64> =
            member["assignment"][TOPIC].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
        assert!(
            partitions.iter().all(|partition| seen.insert(*partition)),
            "one partition, two members: {group}"
        );
        all.insert(member["client_id"].as_str()?.to_owned(), partitions);
    }
    (seen.len() == PARTITIONS).then_some(all)
}

#[test]
fn a_group_balances_and_survives_the_death_of_a_member() {
    let settings = vec![("num.partitions".to_owned(), PARTITIONS.to_string())];
    let cluster = Cluster::start(OTTLA, Options { settings, ..Options::default() });
    let Some(kcat) = cluster.kcat() else {
        return skip("a_group_balances_and_survives_the_death_of_a_member", "kcat", Kcat::remedy());
    };
    let input = cluster.data_dir().with_file_name("input.txt");
    std::fs::write(&input, (0..600).map(|number| format!("line {number}\n")).collect::<String>()).unwrap();
    kcat.run(&[
        "-P",
        "-t",
        TOPIC,
        "-X",
        "acks=all",
        "-X",
        "sticky.partitioning.linger.ms=0",
        "-l",
        input.to_str().unwrap(),
    ]);

    let _first = member(&kcat, "first");
    let alone = wait_until("one member to get everything", LONG, || assignment(&cluster.status()));
    assert_eq!(alone["first"].len(), PARTITIONS);
    let generation = group(&cluster.status()).unwrap()["generation"].as_i64().unwrap();

    let second = member(&kcat, "second");
    let shared = wait_until("two members to share", LONG, || {
        assignment(&cluster.status())
            .filter(|shares| shares.len() == 2 && shares.values().all(|own| !own.is_empty()))
    });
    assert_eq!(shared.values().map(Vec::len).collect::<Vec<_>>(), [3, 3]);

    // Killed, not stopped: it cannot say that it leaves.
    drop(second);
    let left = wait_until("the survivor to get everything back", LONG, || {
        assignment(&cluster.status()).filter(|shares| shares.len() == 1)
    });
    assert_eq!(left["first"].len(), PARTITIONS);
    let status = cluster.wait_for_status("the group to have read and committed everything", |status| {
        group(status).is_some_and(|group| group["lag"] == 0)
    });
    assert!(group(&status).unwrap()["generation"].as_i64().unwrap() >= generation + 2);
}
