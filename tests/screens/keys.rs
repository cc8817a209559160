//! What keys do: every command the console can give, and what it asks before.

use ottla::action::{BrokerOrder, Command, LoadOrder};
use ottla::model::{ClusterUpdate, Model, Profile, Update};
use ottla::view::{Leave, ViewId, Wish};
use ottla::widget::Tier;
use ottla_broker::types::{BrokerId, TopicPartition};

use crate::screen::{console, draw, press, text};
use crate::story::Story;

/// Presses keys in a new console and returns the commands that come of it.
fn commands(story: &Story, keys: &str) -> Vec<Command> {
    let mut console = console("dark", Tier::Braille);
    console.settle(&story.model, story.now);
    press(&mut console, &story.model, story.now, keys)
        .into_iter()
        .filter_map(|wish| match wish {
            Wish::Command(issued) => Some(issued.command),
            Wish::Leave(_) | Wish::Suspend => None,
        })
        .collect()
}

/// Presses keys in a new console and returns what the screen says.
fn shown(story: &Story, keys: &str) -> String {
    let mut console = console("dark", Tier::Braille);
    console.settle(&story.model, story.now);
    press(&mut console, &story.model, story.now, keys);
    text(&draw(&mut console, &story.model, story.now, (120, 40)))
}

fn broker(id: i32, order: BrokerOrder) -> Command {
    Command::Broker { broker: BrokerId(id), order }
}

#[test]
fn brokers_are_stopped_killed_frozen_and_restarted_after_a_question() {
    let story = Story::healthy();
    for (keys, expected) in [
        ("x y", broker(1, BrokerOrder::Stop)),
        ("j X y", broker(2, BrokerOrder::Kill)),
        ("2 j j Z y", broker(3, BrokerOrder::Freeze)),
        ("2 R tab enter", broker(1, BrokerOrder::Restart)),
        ("G X y", Command::Zookeeper(BrokerOrder::Kill)),
    ] {
        assert_eq!(commands(&story, keys), [expected], "{keys}");
    }
    for keys in ["x enter", "X esc", "Z n", "R q"] {
        assert_eq!(commands(&story, keys), [], "{keys}: Cancel is chosen at first");
    }
}

#[test]
fn the_question_says_what_follows() {
    let question = shown(&Story::healthy(), "j X");
    for words in ["Kill broker 2?", "SIGKILL", "get another leader from the isr", "It is the controller"] {
        assert!(question.contains(words), "{words} is missing:\n{question}");
    }
    let question = shown(&Story::failover(), "X");
    assert!(question.contains("get another leader"), "{question}");
}

#[test]
fn a_dead_broker_is_started_without_a_question_and_not_killed_again() {
    let story = Story::failover();
    assert_eq!(commands(&story, "j R"), [broker(2, BrokerOrder::Start)]);
    assert_eq!(commands(&story, "j X y"), []);
    assert!(shown(&story, "j X").contains("broker 2 is down: R starts it"));
}

#[test]
fn leadership_moves_to_an_in_sync_replica_that_is_chosen() {
    let story = Story::healthy();
    let partition = TopicPartition::new("clicks", 0);
    assert_eq!(
        commands(&story, "3 m j enter"),
        [Command::MoveLeadership { partition: partition.clone(), to: BrokerId(3) }]
    );
    let choice = shown(&Story::failover(), "3 m");
    assert!(choice.contains("broker 3") && !choice.contains("broker 2  in sync"), "{choice}");
    assert!(shown(&story, "3 e").contains("led by its preferred leader already"));
    let recovered = Story::recovered();
    assert_eq!(
        commands(&recovered, "3 j e"),
        [Command::ElectPreferred { partitions: vec![TopicPartition::new("clicks", 1)] }]
    );
    assert_eq!(commands(&recovered, "3 E y"), [Command::ElectPreferred { partitions: Vec::new() }]);
}

#[test]
fn a_topic_is_created_from_a_form_and_deleted_by_its_name() {
    let story = Story::healthy();
    let [Command::CreateTopic { name, partitions, replication_factor, .. }] =
        &commands(&story, "3 n t - 1 enter ctrl-u 4 enter enter enter")[..]
    else {
        panic!("no topic was created");
    };
    assert_eq!((name.as_str(), *partitions, *replication_factor), ("t-1", 4, 3));
    assert!(shown(&story, "3 n t / 1 enter enter enter enter").contains("'/' is not allowed"));
    assert_eq!(commands(&story, "3 D c l i c k s enter"), [Command::DeleteTopic { name: "clicks".into() }]);
    assert_eq!(commands(&story, "3 D c l i c k enter y enter"), []);
    assert!(shown(&story, "3 i g D").contains("belongs to the brokers"));
}

#[test]
fn the_demo_load_is_switched_and_its_groups_grow_and_shrink() {
    let story = Story::healthy();
    let load = |order| Command::Load(order);
    let group = || "fraud-detection".to_owned();
    assert_eq!(commands(&story, "L"), [load(LoadOrder::Stop)]);
    assert_eq!(commands(&story, "4 j +"), [load(LoadOrder::AddMember { group: group() })]);
    assert_eq!(commands(&story, "+ j enter"), [load(LoadOrder::AddMember { group: group() })]);
    assert_eq!(commands(&story, "4 j -"), [load(LoadOrder::RemoveMember { group: group() })]);
    assert_eq!(commands(&story, ">"), [load(LoadOrder::SetRate(2_000))]);
    assert_eq!(commands(&Story::first_frame(), "+"), []);
    assert!(shown(&Story::first_frame(), "L").contains("needs a broker that is up"));
}

#[test]
fn quitting_asks_and_leaves_running_unless_told_otherwise() {
    let story = Story::healthy();
    let leave = |keys: &str| {
        let mut console = console("dark", Tier::Braille);
        press(&mut console, &story.model, story.now, keys)
    };
    assert_eq!(leave("q"), []);
    assert_eq!(leave("q enter"), [Wish::Leave(Leave::LeaveRunning)]);
    assert_eq!(leave("q tab enter"), [Wish::Leave(Leave::StopAll)]);
    assert_eq!(leave("q esc"), []);
    assert_eq!(leave("ctrl-c ctrl-c"), [Wish::Leave(Leave::LeaveRunning)]);
    let mut console = console("dark", Tier::Braille);
    let attached = Model::default();
    assert_eq!(press(&mut console, &attached, story.now, "q"), [Wish::Leave(Leave::LeaveRunning)]);
}

#[test]
fn a_console_that_may_only_look_offers_and_does_nothing_else() {
    let mut story = Story::healthy();
    let profile = Profile { read_only: true, ..story.model.cluster.profile.clone() };
    story.tell(Update::Cluster(ClusterUpdate::Profile(profile)));
    for keys in
        ["x y", "X y", "Z y", "R y", "L", "3 m enter", "3 n a enter enter enter enter", "3 E y", "4 +"]
    {
        assert_eq!(commands(&story, keys), [], "{keys}");
    }
    let help = shown(&story, "?");
    assert!(!help.contains("kill the broker") && help.contains("the next view"), "{help}");
}

#[test]
fn help_lists_exactly_the_keys_that_work_here() {
    let story = Story::healthy();
    let in_partitions = shown(&story, "3 ?");
    let in_network = shown(&story, "5 ?");
    assert!(in_partitions.contains("move leadership") && !in_partitions.contains("SIGKILL"));
    assert!(!in_network.contains("move leadership") && in_network.contains("a row down"));
}

#[test]
fn the_filter_narrows_and_esc_goes_back_step_by_step() {
    let story = Story::healthy();
    let list = shown(&story, "3 / p a y enter");
    assert!(list.contains("payments-0") && !list.contains("clicks-0"), "{list}");
    let list = shown(&story, "3 / ! c l enter");
    assert!(list.contains("payments-0") && !list.contains("clicks-0"), "{list}");
    let mut console = console("dark", Tier::Braille);
    press(&mut console, &story.model, story.now, "3 / p a y enter esc");
    assert_eq!(console.view(), ViewId::Partitions, "the first esc clears the filter");
    press(&mut console, &story.model, story.now, "esc");
    assert_eq!(console.view(), ViewId::Overview, "the second leaves the view");
}

#[test]
fn the_cursor_stays_on_its_partition_when_the_order_changes() {
    let story = Story::failover();
    let mut console = console("dark", Tier::Braille);
    press(&mut console, &story.model, story.now, "3 j j j s s s");
    let detail = text(&draw(&mut console, &story.model, story.now, (120, 36)));
    assert!(detail.contains("╭ clicks-3 "), "{detail}");
}

#[test]
fn a_paused_screen_holds_still_while_the_model_goes_on() {
    let mut story = Story::healthy();
    let mut console = console("dark", Tier::Braille);
    press(&mut console, &story.model, story.now, "p");
    let before = text(&draw(&mut console, &story.model, story.now, (100, 30)));
    story.second();
    let after = text(&draw(&mut console, &story.model, story.now, (100, 30)));
    assert_eq!(before, after);
    assert!(after.contains("PAUSED"));
    press(&mut console, &story.model, story.now, "p");
    assert_ne!(text(&draw(&mut console, &story.model, story.now, (100, 30))), after);
}
