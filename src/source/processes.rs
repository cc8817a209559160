//! What the processes of a local cluster use, as the operating system says.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use ottla_broker::types::{BrokerId, Millis};
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

use super::feed::Feed;
use crate::model::{ProcessKind, ProcessUpdate, SourceName, Update, Usage};
use crate::supervisor::{self, Layout, Role};

/// How often processes are looked at.
const INTERVAL: Duration = Duration::from_secs(1);
/// Directories are summed up only every so many looks: that reads every file's length.
const LOOKS_PER_DISK: u32 = 5;
/// How deep data directories are.
const DEPTH_MAX: u32 = 4;

/// Looks until dropped.
pub(super) async fn run(layout: Layout, feed: Feed) {
    let mut processes = Processes::default();
    loop {
        for update in processes.look(&layout) {
            feed.say(update).await;
        }
        feed.fresh(SourceName::Processes).await;
        tokio::time::sleep(INTERVAL).await;
    }
}

/// What is kept between looks: CPU use is the difference of two.
#[derive(Debug)]
pub struct Processes {
    /// `None` where the operating system does not tell.
    system: Option<System>,
    looks: u32,
    disks: BTreeMap<ProcessKind, (u64, u64)>,
}

impl Default for Processes {
    fn default() -> Self {
        Self { system: System::new().ok(), looks: 0, disks: BTreeMap::new() }
    }
}

impl Processes {
    /// Looks once at every process that has a pid file, and at this one.
    pub fn look(&mut self, layout: &Layout) -> Vec<Update> {
        let mut found = vec![(ProcessKind::Console, std::process::id(), None)];
        if let Ok(opened) = supervisor::find(layout.root()) {
            let brokers = opened.spec.brokers.iter().map(|broker| Role::Broker(broker.id));
            for role in brokers.chain([Role::Zookeeper]) {
                if let Some(pid) = supervisor::living_pid(layout, role) {
                    let kind = match role {
                        Role::Zookeeper => ProcessKind::Zookeeper,
                        Role::Broker(id) => ProcessKind::Broker(BrokerId(id)),
                    };
                    found.push((kind, pid, Some(layout.data(role))));
                }
            }
        }
        let pids: Vec<Pid> = found.iter().map(|(_, pid, _)| Pid::from_u32(*pid)).collect();
        let wanted =
            ProcessRefreshKind::nothing().with_cpu().with_memory().with_tasks().with_exe(UpdateKind::Never);
        if let Some(system) = &mut self.system {
            system.refresh_processes_specifics(ProcessesToUpdate::Some(&pids), true, wanted);
        }
        let looks_at_disk = self.looks.is_multiple_of(LOOKS_PER_DISK);
        self.looks = self.looks.wrapping_add(1);
        let mut updates = Vec::new();
        for (process, pid, data) in found {
            if let Some(data) = data.filter(|_| looks_at_disk) {
                self.disks.insert(process, (size_of(&data, 0), free_at(&data)));
            }
            if let Some(usage) = self.usage(process, pid) {
                updates.push(Update::Process { process, update: ProcessUpdate::Usage(usage) });
            }
        }
        updates
    }

    fn usage(&self, kind: ProcessKind, pid: u32) -> Option<Usage> {
        let process = self.system.as_ref()?.process(Pid::from_u32(pid))?;
        let (disk_bytes, disk_free_bytes) = self.disks.get(&kind).copied().unwrap_or_default();
        let started_ms = i64::try_from(process.start_time().saturating_mul(1_000)).ok();
        Some(Usage {
            cpu_ratio: f64::from(process.cpu_usage()) / 100.0,
            resident_bytes: process.memory(),
            threads: count(&format!("/proc/{pid}/task")),
            open_files: count(&format!("/proc/{pid}/fd")),
            disk_bytes,
            disk_free_bytes,
            started_at: started_ms.map(Millis),
        })
    }
}

fn count(folder: &str) -> u32 {
    fs::read_dir(folder).map_or(0, |entries| u32::try_from(entries.count()).unwrap_or(u32::MAX))
}

/// Sums up what the files take on the disk, which for sparse ones is less than their length.
fn size_of(folder: &Path, depth: u32) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() && depth < DEPTH_MAX => size_of(&entry.path(), depth + 1),
        Ok(metadata) if metadata.is_file() => metadata.blocks().saturating_mul(512),
        _ => 0,
    });
    sizes.sum()
}

fn free_at(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder).map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize))
}
