//! Where each update goes.

use ottla_broker::types::{BrokerId, Millis};

use crate::model::action::{ActionUpdate, Progress};
use crate::model::load::LoadState;
use crate::model::source::{self, SourceHealth, SourceName, SourceUpdate};
use crate::model::state::Model;
use crate::model::timeline::{EventKind, Severity};
use crate::model::update::Update;

impl Model {
    /// Takes in what became known at `now`. Everything derived is up to date when this returns.
    pub fn apply(&mut self, now: Millis, update: Update) {
        self.version += 1;
        self.updated_at = self.updated_at.max(now);
        match update {
            Update::Cluster(update) => self.apply_cluster(now, update),
            Update::Process { process, update } => self.apply_process(now, process, update),
            Update::Broker { broker, update } => self.apply_broker(now, broker, update),
            Update::BrokersListed(ids) => self.apply_brokers_listed(now, &ids),
            Update::Topic { topic, update } => self.apply_topic(now, &topic, update),
            Update::TopicsListed(names) => self.apply_topics_listed(now, &names),
            Update::Partition { partition, update } => self.apply_partition(now, &partition, update),
            Update::Offsets { broker, replicas } => self.apply_offsets(now, broker, &replicas),
            Update::Group { group, update } => self.apply_group(now, &group, update),
            Update::GroupsListed(names) => self.apply_groups_listed(now, &names),
            Update::Network { broker, sample } => {
                self.networks.entry(broker).or_default().apply(now, sample);
            }
            Update::Load(state) => self.apply_load(now, state),
            Update::Source(update) => self.apply_source(now, update),
            Update::Action(update) => self.apply_action(now, update),
            Update::Notice { severity, text } => self.timeline.add(now, severity, EventKind::Notice, text),
        }
    }

    fn apply_load(&mut self, now: Millis, state: LoadState) {
        let error = state.error.clone().filter(|_| state.error != self.load.state.error);
        if self.load.apply(now, state) {
            let text = if self.load.state.running {
                format!(
                    "demo load on: {} records/s into {}",
                    self.load.state.target_per_second,
                    self.load.state.topics.join(", ")
                )
            } else {
                "demo load off".to_owned()
            };
            self.timeline.add(now, Severity::Info, EventKind::Load, text);
        }
        if let Some(error) = error {
            self.timeline.add(now, Severity::Warning, EventKind::Load, format!("demo load: {error}"));
        }
    }

    fn apply_source(&mut self, now: Millis, update: SourceUpdate) {
        let SourceUpdate { source: name, health } = update.clone();
        let silent_since = self.stale(name).map(|(since, _)| since);
        let news = source::apply(&mut self.sources, now, update);
        // A broker that is down is silent for a reason that already has its line.
        if !news || self.silence_is_explained(name) {
            return;
        }
        match health {
            SourceHealth::Stale { why } => {
                let text = format!("{name}: cannot be read: {why}");
                self.timeline.add(now, Severity::Warning, EventKind::Source, text);
            }
            SourceHealth::Fresh => {
                let took = silent_since.map(|since| now.since(since));
                let text = format!("{name}: can be read again");
                self.timeline.add_timed(now, Severity::Good, EventKind::Source, text, took);
            }
            SourceHealth::Closed => {}
        }
    }

    fn silence_is_explained(&self, name: SourceName) -> bool {
        let unwell = |id: BrokerId| self.brokers.get(&id).is_none_or(|broker| !broker.state.serves());
        match name {
            SourceName::Kafka(broker) | SourceName::Metrics(broker) => unwell(broker),
            // The connection to ZooKeeper has its own events.
            SourceName::Zookeeper => true,
            SourceName::Groups | SourceName::Segments | SourceName::Processes => false,
        }
    }

    fn apply_action(&mut self, now: Millis, update: ActionUpdate) {
        let Some(action) = self.actions.apply(now, update) else { return };
        let took = action.ended_at.map(|ended| ended.since(action.started_at));
        let (severity, text) = match &action.progress {
            Progress::Started(_) => (Severity::Info, action.what.clone()),
            Progress::Step(step) => (Severity::Info, format!("{}: {step}", action.what)),
            Progress::Done(outcome) if outcome.is_empty() => {
                (Severity::Good, format!("{}: done", action.what))
            }
            Progress::Done(outcome) => (Severity::Good, format!("{}: {outcome}", action.what)),
            Progress::Failed(why) => (Severity::Critical, format!("{}: failed: {why}", action.what)),
        };
        // One action is one line, which says how far it is and in the end what came of it.
        let told =
            action.event.is_some_and(|event| self.timeline.revise(event, severity, text.clone(), took));
        if !told {
            action.event = Some(self.timeline.next_number());
            self.timeline.add_timed(now, severity, EventKind::Action, text, took);
        }
    }
}
