//! `conf`, `envi` and `dirs`.

use super::figures::Figures;
use super::status::version;
use crate::config::Storage;
use crate::types::Millis;

pub(super) fn configuration(figures: &Figures<'_>) -> String {
    let config = &figures.config;
    let directory = match &config.storage {
        Storage::Memory => "memory".to_owned(),
        Storage::Directory(path) => path.display().to_string(),
    };
    let lines = [
        format!("clientPort={}", figures.local_address.port()),
        "secureClientPort=-1".to_owned(),
        format!("dataDir={directory}"),
        format!("dataDirSize={}", figures.snapshot_bytes),
        format!("dataLogDir={directory}"),
        format!("dataLogSize={}", figures.log_bytes),
        format!("tickTime={}", config.tick_time_ms),
        format!("maxClientCnxns={}", config.max_connections_per_address),
        format!("minSessionTimeout={}", config.min_session_timeout_ms),
        format!("maxSessionTimeout={}", config.max_session_timeout_ms),
        "clientPortListenBacklog=-1".to_owned(),
        "serverId=0".to_owned(),
    ];
    lines.join("\n") + "\n"
}

pub(super) fn directories(figures: &Figures<'_>) -> String {
    format!("datadir_size: {}\nlogdir_size: {}\n", figures.snapshot_bytes, figures.log_bytes)
}

pub(super) fn environment() -> String {
    let system = rustix::system::uname();
    let current = std::env::current_dir().map(|path| path.display().to_string()).unwrap_or_default();
    let lines = [
        "Environment:".to_owned(),
        format!("zookeeper.version={}", version()),
        format!("host.name={}", system.nodename().to_string_lossy()),
        format!("os.name={}", system.sysname().to_string_lossy()),
        format!("os.arch={}", std::env::consts::ARCH),
        format!("os.version={}", system.release().to_string_lossy()),
        format!("user.name={}", std::env::var("USER").unwrap_or_default()),
        format!("user.home={}", std::env::var("HOME").unwrap_or_default()),
        format!("user.dir={current}"),
    ];
    lines.join("\n") + "\n"
}

/// A date as `java.util.Date` prints it, in UTC.
pub(super) fn java_date(wall_ms: Millis) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let seconds = wall_ms.div_euclid(1_000);
    let days = seconds.div_euclid(86_400);
    let (year, month, day) = civil(days);
    let name = |names: &[&'static str], index: i64| {
        usize::try_from(index).ok().and_then(|index| names.get(index)).copied().unwrap_or("?")
    };
    format!(
        "{} {} {day:02} {:02}:{:02}:{:02} UTC {year}",
        name(&DAYS, days.rem_euclid(7)),
        name(&MONTHS, month - 1),
        seconds.div_euclid(3_600).rem_euclid(24),
        seconds.div_euclid(60).rem_euclid(60),
        seconds.rem_euclid(60)
    )
}

/// Year, month and day of a day since the epoch, counted in eras of 400 years that begin in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::java_date;

    #[test]
    fn dates_look_like_those_of_java() {
        assert_eq!(java_date(0), "Thu Jan 01 00:00:00 UTC 1970");
        assert_eq!(java_date(1_796_132_891_000), "Tue Dec 01 13:48:11 UTC 2026");
        assert_eq!(java_date(951_782_400_000), "Tue Feb 29 00:00:00 UTC 2000");
    }
}
