//! Figures, times and names as people read them.

use ottla_broker::types::{BrokerId, Millis, Offset};

/// Returns a count in at most five characters: 999, 12.3k, 4.56M.
pub(super) fn short(value: f64) -> String {
    let value = if value.is_finite() { value.max(0.0) } else { 0.0 };
    const STEPS: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    // What would round up to the next step is shown in it.
    for (step, unit) in STEPS {
        if value >= step * 0.9995 {
            return format!("{}{unit}", three_digits(value / step));
        }
    }
    if value >= 9.95 || value == value.trunc() { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// Returns a count of whole things in at most five characters.
pub(super) fn short_count(value: i64) -> String {
    if (0..10_000).contains(&value) { value.to_string() } else { short(value as f64) }
}

/// Returns an amount of memory or disk: 512 B, 3.4 MiB.
pub(super) fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if value < 1000 {
        return format!("{value} B");
    }
    let mut amount = value as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 999.5 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{} {}", three_digits(amount), UNITS.get(unit).copied().unwrap_or("PiB"))
}

/// Returns bytes per second: 3.4 MiB/s.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate, not below zero")]
pub(super) fn byte_rate(value: f64) -> String {
    format!("{}/s", bytes(if value.is_finite() { value.max(0.0) as u64 } else { 0 }))
}

fn three_digits(value: f64) -> String {
    if value >= 99.95 {
        format!("{value:.0}")
    } else if value >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// Returns a figure with its thousands set apart: 1,234,567.
pub(super) fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if value < 0 {
        text.push('-');
    }
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns an offset, or a dash while it is unknown.
pub(super) fn offset(value: Option<Offset>) -> String {
    value.map_or_else(dash, |offset| grouped(offset.0))
}

/// Returns what stands for a value that is not known.
pub(super) fn dash() -> String {
    "-".to_owned()
}

/// Returns a share: 42%.
pub(super) fn percent(ratio: f64) -> String {
    format!("{:.0}%", ratio.clamp(0.0, 99.99) * 100.0)
}

/// Returns how long ago or how long: 43ms, 8.2s, 3m20s, 2h05m, 4d.
pub(super) fn span(time: Millis) -> String {
    match time.0.max(0) {
        ms if ms < 1_000 => format!("{ms}ms"),
        ms if ms < 10_000 => format!("{}.{}s", ms / 1_000, ms % 1_000 / 100),
        ms if ms < 60_000 => format!("{}s", ms / 1_000),
        ms if ms < 3_600_000 => format!("{}m{:02}s", ms / 60_000, ms % 60_000 / 1_000),
        ms if ms < 86_400_000 => format!("{}h{:02}m", ms / 3_600_000, ms % 3_600_000 / 60_000),
        ms => format!("{}d", ms / 86_400_000),
    }
}

/// Returns how long ago something was, in whole seconds so that the figure holds still.
pub(super) fn age(time: Millis) -> String {
    span(Millis(time.0.max(0) / 1_000 * 1_000)).replace("0ms", "now").replace(".0s", "s")
}

/// Returns the time of day in UTC: 14:03:22.
pub(super) fn clock(at: Millis) -> String {
    let seconds = at.0.div_euclid(1_000).rem_euclid(86_400);
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds % 3_600 / 60, seconds % 60)
}

/// Returns the time of day in UTC with milliseconds: 14:03:22.042.
pub(super) fn clock_ms(at: Millis) -> String {
    format!("{}.{:03}", clock(at), at.0.rem_euclid(1_000))
}

/// Returns ids separated by commas.
pub(super) fn ids(list: &[BrokerId]) -> String {
    list.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Returns numbers with runs drawn together: 0-3,5.
pub(super) fn runs(numbers: &[i32]) -> String {
    let mut text = String::new();
    let mut rest = numbers.iter().copied().peekable();
    while let Some(first) = rest.next() {
        let mut last = first;
        while rest.peek() == Some(&last.saturating_add(1)) {
            last = rest.next().unwrap_or(last);
        }
        if !text.is_empty() {
            text.push(',');
        }
        match last - first {
            0 => text.push_str(&first.to_string()),
            1 => text.push_str(&format!("{first},{last}")),
            _ => text.push_str(&format!("{first}-{last}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.44, "0.4"),
            (7.0, "7"),
            (999.0, "999"),
            (999.9, "1.00k"),
            (12_345.0, "12.3k"),
            (4.56e6, "4.56M"),
        ] {
            assert_eq!(short(value), text);
        }
        for (value, text) in
            [(0, "0 B"), (999, "999 B"), (1_500, "1.46 KiB"), (3_565_158, "3.40 MiB"), (1 << 40, "1.00 TiB")]
        {
            assert_eq!(bytes(value), text);
        }
        assert_eq!(grouped(-1_234_567), "-1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(percent(0.425), "42%");
    }

    #[test]
    fn times_are_as_exact_as_they_need_to_be() {
        for (ms, text) in [
            (43, "43ms"),
            (8_230, "8.2s"),
            (12_900, "12s"),
            (200_000, "3m20s"),
            (7_500_000, "2h05m"),
            (400_000_000, "4d"),
        ] {
            assert_eq!(span(Millis(ms)), text);
        }
        assert_eq!(age(Millis(400)), "now");
        assert_eq!(age(Millis(2_900)), "2s");
        assert_eq!(clock_ms(Millis(1_700_000_042_007)), "22:14:02.007");
    }

    #[test]
    fn runs_are_drawn_together() {
        assert_eq!(runs(&[0, 1, 2, 3, 5, 7, 8]), "0-3,5,7,8");
        assert_eq!(runs(&[]), "");
        assert_eq!(runs(&[i32::MAX]), i32::MAX.to_string());
    }
}
