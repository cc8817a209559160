//! Becoming controller, and ceasing to be it.

use ottla_protocol::message::ErrorCode;

use super::super::*;
use super::world::{World, ids, tp};
use crate::types::{BrokerEpoch, BrokerId, ControllerEpoch};

fn refused(controller: Option<i32>, tried: i32, epoch: i32) -> Event {
    Event::Campaigned(Campaign::Refused {
        controller: controller.map(BrokerId),
        tried: ControllerEpoch(tried),
        epoch: ControllerEpoch(epoch),
        epoch_version: epoch,
    })
}

#[test]
fn another_brokers_office_is_respected_until_it_ends() {
    let mut world = World::of(&[1, 2]);
    world.tell("the session stands");
    world.step(Event::SessionReady);
    world.tell("broker 2 is the controller");
    world.step(Event::ControllerRead(Some(BrokerId(2))));
    assert_eq!(world.machine.controller(), Some(BrokerId(2)));
    world.tell("there is none any more");
    world.step(Event::ControllerRead(None));
    world.tell("somebody was faster");
    world.step(refused(Some(2), 5, 5));
    world.step(Event::ControllerRead(Some(BrokerId(2))));
    assert_eq!(world.machine.active_epoch(), None);
    insta::assert_snapshot!(world.story());
}

#[test]
fn an_election_whose_answer_was_lost_is_recognized() {
    let mut world = World::of(&[1]);
    world.step(Event::SessionReady);
    world.step(Event::ControllerRead(None));
    world.step(refused(Some(1), 5, 5));
    assert_eq!(world.machine.active_epoch(), Some(ControllerEpoch(5)));
}

#[test]
fn the_own_name_under_another_epoch_is_not_a_victory() {
    let mut world = World::of(&[1]);
    world.step(Event::SessionReady);
    world.step(Event::ControllerRead(None));
    world.step(refused(Some(1), 5, 6));
    assert_eq!(world.machine.active_epoch(), None);
}

#[test]
fn who_waits_for_an_answer_hears_that_the_controller_is_gone() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2]])]);
    let mut effects = Vec::new();
    let now = crate::types::Millis(0);
    // The write of the first request is under way, the second one waits.
    for id in [7, 8] {
        let epoch = world.brokers[&BrokerId(2)].epoch;
        let shutdown = Request::ControlledShutdown { broker: BrokerId(2), epoch };
        world.machine.step(now, Event::Request(RequestId(id), shutdown), &mut effects);
    }
    effects.clear();
    world.machine.step(now, Event::SessionExpired, &mut effects);
    let refused = |id| Effect::Reply(RequestId(id), Reply::Refused(ErrorCode::NotController));
    assert_eq!(effects, [refused(8), refused(7), Effect::Resign]);
    effects.clear();
    let shutdown = Request::ControlledShutdown { broker: BrokerId(2), epoch: BrokerEpoch(1) };
    world.machine.step(now, Event::Request(RequestId(9), shutdown), &mut effects);
    assert_eq!(effects, [refused(9)]);
}

#[test]
fn what_an_earlier_office_started_is_ignored_in_a_later_one() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2]])]);
    let mut effects = Vec::new();
    let stale = Event::Cluster(ControllerEpoch(4), ClusterEvent::Brokers(std::collections::BTreeMap::new()));
    world.machine.step(crate::types::Millis(0), stale, &mut effects);
    assert_eq!(effects, []);
    assert!(world.machine.context().unwrap().partition(&tp("t", 0)).unwrap().is_in_sync(ids(&[2])[0]));
}

#[test]
fn a_cluster_that_cannot_be_read_is_left_to_others() {
    let mut world = World::of(&[1]);
    world.step(Event::SessionReady);
    world.step(Event::ControllerRead(None));
    let mut effects = Vec::new();
    let now = crate::types::Millis(0);
    let won = Campaign::Won { epoch: ControllerEpoch(5), epoch_version: 5 };
    world.machine.step(now, Event::Campaigned(won), &mut effects);
    effects.clear();
    world.machine.step(now, Event::LoadFailed, &mut effects);
    assert_eq!(effects, [Effect::Resign, Effect::Abdicate(5), Effect::ReadController]);
}

#[test]
fn an_office_that_vanished_is_sought_again() {
    let mut world = World::in_office(&[1], &[]);
    world.tell("/controller is gone");
    let mut effects = Vec::new();
    world.machine.step(crate::types::Millis(0), Event::ControllerRead(None), &mut effects);
    assert_eq!(effects, [Effect::Resign, Effect::Campaign]);
}

#[test]
fn a_request_whose_write_is_fenced_is_refused() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[2, 1]])]);
    world.refuse_writes = Some(Outcome::Fenced);
    let epoch = world.brokers[&BrokerId(2)].epoch;
    world.ask(Request::ControlledShutdown { broker: BrokerId(2), epoch });
    assert_eq!(*world.last_reply(), Reply::Refused(ErrorCode::NotController));
    assert_eq!(world.machine.active_epoch(), None);
}
