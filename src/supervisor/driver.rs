//! Runs the machine: owns the processes, files, clock and lock. Decides nothing.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ottla_broker::runtime_file::{RuntimeFile, ZookeeperSession};
use ottla_broker::types::Millis;
use rustix::process::Signal;
use tokio::io::unix::AsyncFd;
use tokio::task::JoinSet;

use super::data_dir::{self, Opened};
use super::farewell;
use super::layout::Layout;
use super::lock::{self, Lock};
use super::machine::{Ask, Effect, Ending, Event, Life, Machine, Notice, Role, Tell, Timing};
use super::ports;
use super::process::{Condition, Identity, Process};
use super::records::{self, PidRecord, ZookeeperRecord};
use super::spawn;
use super::spec::{ClusterSpec, ZookeeperSpec};

/// How often a starting process is looked at, and a held lock tried.
const GLANCE: Duration = Duration::from_millis(5);
/// How often a process that is absent is looked for: somebody else may have started it.
const LOOK_AROUND: Duration = Duration::from_secs(1);
/// How much of a log is quoted when a start fails.
const LOG_TAIL_BYTES: u64 = 2_000;

/// How a driver works.
#[derive(Debug, Clone)]
pub struct DriverOptions {
    /// The program that every process runs: this one.
    pub program: PathBuf,
    /// How long things may take.
    pub timing: Timing,
    /// Whether ZooKeeper is told of a broker's death at once.
    pub says_farewell: bool,
}

/// What a driver has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Something happened to a process.
    Notice(Notice),
    /// Ports taken by others were stepped over for this process.
    SteppedOver {
        /// Whose port.
        role: Role,
        /// The one it has now.
        port: u16,
        /// The ones that were taken.
        taken: Vec<u16>,
    },
    /// The process with this pid is starting or stopping the cluster; we wait for it.
    WaitingFor(u32),
    /// A broker's death was told to ZooKeeper, or could not be.
    Farewell {
        /// Whose.
        role: Role,
        /// How many nodes were removed; or why none, in words.
        outcome: Result<usize, String>,
    },
}

#[derive(Debug)]
struct Held {
    process: Arc<AsyncFd<Process>>,
    /// Ours to reap, if we started it.
    child: Option<Child>,
}

#[derive(Debug)]
enum Ended {
    Process(Role, Identity),
    Farewell(Role, Result<usize, String>),
}

/// The hands of the supervisor.
#[derive(Debug)]
pub struct Driver {
    layout: Layout,
    spec: ClusterSpec,
    options: DriverOptions,
    machine: Machine,
    held: BTreeMap<Role, Held>,
    asked: VecDeque<Ask>,
    said: VecDeque<Said>,
    tasks: JoinSet<Ended>,
    lock: Option<Lock>,
    told_of_waiting: bool,
    born: Instant,
}

impl Driver {
    /// Takes charge of a cluster and finds what already runs.
    pub fn new(opened: Opened, options: DriverOptions) -> Self {
        let Opened { layout, spec, .. } = opened;
        let mut machine = Machine::new(roles(&spec), options.timing);
        machine.say_farewell(options.says_farewell);
        let mut driver = Self {
            layout,
            spec,
            options,
            machine,
            held: BTreeMap::new(),
            asked: VecDeque::new(),
            said: VecDeque::new(),
            tasks: JoinSet::new(),
            lock: None,
            told_of_waiting: false,
            born: Instant::now(),
        };
        driver.look_around();
        driver.glance();
        driver
    }

    /// Returns what the cluster is made of, with the ports as they are now.
    pub fn spec(&self) -> &ClusterSpec {
        &self.spec
    }

    /// Returns where things lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns what is known of the processes.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Chooses whether the end of a broker is told to ZooKeeper at once, or left to the session timeout.
    pub fn say_farewell(&mut self, yes: bool) {
        self.machine.say_farewell(yes);
    }

    /// Asks for something; it is done as [`Driver::next`] is awaited.
    pub fn ask(&mut self, ask: Ask) {
        self.asked.push_back(ask);
    }

    /// Returns whether nothing is asked for, on its way or left to say.
    pub fn is_settled(&self) -> bool {
        self.asked.is_empty()
            && self.said.is_empty()
            && self.tasks_of_farewell_done()
            && !self.machine.is_moving()
    }

    /// Does what is asked and watches the processes until there is something to say. May be cancelled at any await.
    pub async fn next(&mut self) -> Said {
        loop {
            self.take_asked();
            if let Some(said) = self.said.pop_front() {
                return said;
            }
            if self.lock.is_some() && !self.machine.is_moving() {
                self.lock = None;
            }
            let pause = self.pause();
            tokio::select! {
                Some(ended) = self.tasks.join_next() => {
                    if let Ok(ended) = ended {
                        self.ended(ended);
                    }
                }
                () = tokio::time::sleep(pause) => {
                    self.look_around();
                    self.glance();
                    self.step(Event::Tick);
                }
            }
        }
    }

    /// Goes on until nothing moves; `tell` hears all that is said.
    pub async fn settle(&mut self, mut tell: impl FnMut(&Self, Said)) {
        while !self.is_settled() {
            let said = self.next().await;
            tell(self, said);
        }
    }

    fn tasks_of_farewell_done(&self) -> bool {
        // Every task beyond one watcher per held process is a farewell under way.
        self.tasks.len() <= self.held.len()
    }

    fn pause(&self) -> Duration {
        let hurried = self.lives_any(|life| matches!(life, Life::Starting { .. })) || !self.asked.is_empty();
        let mut pause = if hurried { GLANCE } else { LOOK_AROUND };
        if let Some(deadline) = self.machine.next_deadline() {
            let left = u64::try_from(deadline.since(self.now()).0).unwrap_or(0);
            pause = pause.min(Duration::from_millis(left));
        }
        pause
    }

    fn lives_any(&self, test: impl Fn(Life) -> bool) -> bool {
        self.machine.lives().any(|(_, life)| test(life))
    }

    fn now(&self) -> Millis {
        Millis(i64::try_from(self.born.elapsed().as_millis()).unwrap_or(i64::MAX))
    }

    /// Takes requests as far as the lock allows: nobody else may be starting or stopping the same processes.
    fn take_asked(&mut self) {
        if self.asked.is_empty() {
            return;
        }
        if self.lock.is_none() {
            match lock::try_lock(&self.layout.lock()) {
                Ok(lock::Attempt::Taken(lock)) => {
                    self.lock = Some(lock);
                    self.told_of_waiting = false;
                    // Whoever held it before us may have changed everything.
                    self.reload_spec();
                    self.look_around();
                    self.glance();
                }
                Ok(lock::Attempt::HeldBy(pid)) => {
                    if !std::mem::replace(&mut self.told_of_waiting, true) {
                        self.said.push_back(Said::WaitingFor(pid));
                    }
                    return;
                }
                Err(error) => return self.refuse_all(&error),
            }
        }
        while let Some(ask) = self.asked.pop_front() {
            self.step(Event::Asked(ask));
        }
    }

    fn refuse_all(&mut self, error: &io::Error) {
        let why = format!("lock {}: {error}", self.layout.lock().display());
        self.asked.clear();
        let role = self.machine.lives().next().map_or(Role::Zookeeper, |(role, _)| role);
        self.said.push_back(Said::Notice(Notice::Refused { role, why }));
    }

    fn reload_spec(&mut self) {
        if let Ok(opened) = data_dir::find(self.layout.root()) {
            self.spec = opened.spec;
            for role in roles(&self.spec) {
                self.machine.add(role);
            }
        }
    }

    /// Finds processes that are there although we did not start them, and files that nobody stands behind.
    fn look_around(&mut self) {
        let absent: Vec<_> = self.machine.lives().filter(|(_, life)| *life == Life::Absent).collect();
        for (role, _) in absent {
            let Ok(PidRecord { identity }) = records::read(&self.layout.pid(role)) else { continue };
            match (identity.condition(), self.hold(role, identity, None)) {
                (Some(condition), Ok(())) => {
                    let frozen = condition == Condition::Frozen;
                    self.step(Event::Found { role, identity, frozen });
                }
                _ => self.step(Event::FoundStale { role }),
            }
        }
    }

    /// Looks whether starting processes have said that they serve.
    fn glance(&mut self) {
        for (role, life) in self.machine.lives().collect::<Vec<_>>() {
            if let Life::Starting { identity, .. } = life
                && let Some(address) = self.serving_address(role, identity)
            {
                self.step(Event::Ready { role, address });
            }
        }
    }

    fn serving_address(&self, role: Role, identity: Identity) -> Option<String> {
        let path = self.layout.runtime(role);
        match role {
            Role::Zookeeper => {
                let record: ZookeeperRecord = records::read(&path).ok()?;
                (record.identity == identity).then_some(record.address)
            }
            Role::Broker(_) => {
                let record = RuntimeFile::read(&path).ok()??;
                let same =
                    i32::try_from(record.pid) == Ok(identity.pid) && record.start_time == identity.start_time;
                same.then(|| format!("{}:{}", record.host, record.port))
            }
        }
    }

    fn hold(&mut self, role: Role, identity: Identity, child: Option<Child>) -> io::Result<()> {
        let process = Process::hold(identity)?.watch()?;
        let watched = Arc::clone(&process);
        self.tasks.spawn(async move {
            // Readable means ended; an error of the reactor must not pass for an end, so look again.
            while watched.readable().await.is_err() || identity.condition().is_some() {
                tokio::time::sleep(GLANCE).await;
            }
            Ended::Process(role, identity)
        });
        self.held.insert(role, Held { process, child });
        Ok(())
    }

    fn ended(&mut self, ended: Ended) {
        match ended {
            Ended::Process(role, identity) => {
                let child = self.held.remove(&role).and_then(|held| held.child);
                let ending = match child {
                    Some(child) => reap(child),
                    // An orderly end removes the pid file itself.
                    None if !self.layout.pid(role).exists() => Ending::Code(0),
                    None => Ending::Unknown,
                };
                self.step(Event::Exited { role, identity, ending });
            }
            Ended::Farewell(role, outcome) => self.said.push_back(Said::Farewell { role, outcome }),
        }
    }

    fn step(&mut self, event: Event) {
        let mut effects = Vec::new();
        self.machine.step(self.now(), event, &mut effects);
        for effect in effects {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Spawn(role) => self.spawn(role),
            Effect::Signal { role, identity, tell } => {
                let held = self.held.get(&role).filter(|held| held.process.get_ref().identity() == identity);
                if let Some(Err(error)) = held.map(|held| held.process.get_ref().signal(signal(tell)))
                    && error.raw_os_error() != Some(rustix::io::Errno::SRCH.raw_os_error())
                {
                    let why = format!("signal process {}: {error}", identity.pid);
                    self.said.push_back(Said::Notice(Notice::Refused { role, why }));
                }
            }
            Effect::Farewell { role } => self.say_farewell_of(role),
            Effect::Forget(role) => {
                for path in [self.layout.pid(role), self.layout.runtime(role)] {
                    if let Err(error) = records::remove(&path) {
                        tracing::warn!("remove {}: {error}", path.display());
                    }
                }
            }
            Effect::Report(Notice::StartFailed { role, why }) => {
                let why = format!("{why}{}", quote_log(&self.layout.log(role)));
                self.said.push_back(Said::Notice(Notice::StartFailed { role, why }));
            }
            Effect::Report(notice) => self.said.push_back(Said::Notice(notice)),
        }
    }

    fn say_farewell_of(&mut self, role: Role) {
        let Role::Broker(id) = role else { return };
        let Ok(Some(record)) = RuntimeFile::read(&self.layout.runtime(role)) else { return };
        let ZookeeperSession { connect, session_id } = record.zookeeper;
        self.tasks.spawn(async move {
            let outcome = farewell::say(&connect, id, session_id).await;
            Ended::Farewell(role, outcome.map_err(|error| error.to_string()))
        });
    }

    fn spawn(&mut self, role: Role) {
        let outcome = self.try_spawn(role);
        self.step(Event::Spawned { role, outcome });
    }

    fn try_spawn(&mut self, role: Role) -> Result<Identity, String> {
        self.check_zookeeper_port(role)?;
        let before = self.spec.clone();
        let taken =
            spawn::settle_port(&mut self.spec, role).map_err(|error| format!("find a free port: {error}"))?;
        if self.spec != before {
            data_dir::save(&self.layout, &self.spec).map_err(|error| error.to_string())?;
        }
        if let (false, Some(port)) = (taken.is_empty(), self.port_of(role)) {
            self.said.push_back(Said::SteppedOver { role, port, taken });
        }
        let child = spawn::spawn(&self.options.program, &self.layout, &self.spec, role)
            .map_err(|error| format!("start in {}: {error}", self.layout.folder(role).display()))?;
        let pid = i32::try_from(child.id()).map_err(|error| error.to_string())?;
        let identity = Identity::of_pid(pid).map_err(|error| format!("it ended at once: {error}"))?;
        self.hold(role, identity, Some(child)).map_err(|error| format!("it ended at once: {error}"))?;
        Ok(identity)
    }

    /// Brokers that run look for their ZooKeeper where it was, so it may not move while they do.
    fn check_zookeeper_port(&self, role: Role) -> Result<(), String> {
        let (Role::Zookeeper, ZookeeperSpec::Embedded { port }) = (role, &self.spec.zookeeper) else {
            return Ok(());
        };
        let brokers_run =
            self.machine.lives().any(|(role, life)| role != Role::Zookeeper && life.identity().is_some());
        if brokers_run && !ports::is_free(*port) {
            return Err(format!(
                "another program has taken port {port}, where the running brokers expect their ZooKeeper; stop that \
                 program, or stop the brokers first"
            ));
        }
        Ok(())
    }

    fn port_of(&self, role: Role) -> Option<u16> {
        match (role, &self.spec.zookeeper) {
            (Role::Zookeeper, ZookeeperSpec::Embedded { port }) => Some(*port),
            (Role::Zookeeper, ZookeeperSpec::External { .. }) => None,
            (Role::Broker(id), _) => {
                self.spec.brokers.iter().find(|broker| broker.id == id).map(|broker| broker.port)
            }
        }
    }
}

fn roles(spec: &ClusterSpec) -> Vec<Role> {
    let zookeeper = matches!(spec.zookeeper, ZookeeperSpec::Embedded { .. }).then_some(Role::Zookeeper);
    zookeeper.into_iter().chain(spec.brokers.iter().map(|broker| Role::Broker(broker.id))).collect()
}

fn signal(tell: Tell) -> Signal {
    match tell {
        Tell::Finish => Signal::TERM,
        Tell::Die => Signal::KILL,
        Tell::Halt => Signal::STOP,
        Tell::GoOn => Signal::CONT,
    }
}

/// The child has ended, so this does not wait.
fn reap(mut child: Child) -> Ending {
    match child.wait() {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Code(code),
            (None, Some(signal)) => Ending::Signal(signal),
            (None, None) => Ending::Unknown,
        },
        Err(_) => Ending::Unknown,
    }
}

/// Quotes the last lines of a log, and says where the rest is.
fn quote_log(path: &Path) -> String {
    let mut tail = String::new();
    if let Ok(mut file) = fs::File::open(path) {
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let from = length.saturating_sub(LOG_TAIL_BYTES);
        if file.seek(SeekFrom::Start(from)).is_ok() {
            let mut bytes = Vec::new();
            if file.take(LOG_TAIL_BYTES).read_to_end(&mut bytes).is_ok() {
                tail = String::from_utf8_lossy(&bytes).into_owned();
            }
        }
    }
    let lines: Vec<_> = tail.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
    if lines.is_empty() {
        return String::new();
    }
    let quoted: Vec<_> = lines.into_iter().rev().map(|line| format!("\n    {line}")).collect();
    format!("; {} ends with:{}", path.display(), quoted.concat())
}
