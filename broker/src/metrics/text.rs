//! Prometheus' text format.

use std::fmt::{Display, Write as _};

use super::histogram::{BUCKETS_MS, Histogram};

/// A page that is being written; series of one name come one after the other.
#[derive(Debug, Default)]
pub(crate) struct Page {
    text: String,
    /// The name whose heading was written last.
    heading: &'static str,
}

impl Page {
    pub(crate) fn counter(&mut self, name: &'static str, help: &str, labels: &str, value: u64) {
        self.heading(name, help, "counter");
        self.line(name, "", labels, value);
    }

    pub(crate) fn integer(&mut self, name: &'static str, help: &str, labels: &str, value: i64) {
        self.heading(name, help, "gauge");
        self.line(name, "", labels, value);
    }

    pub(crate) fn number(&mut self, name: &'static str, help: &str, labels: &str, value: f64) {
        self.heading(name, help, "gauge");
        self.line(name, "", labels, value);
    }

    /// Writes nothing while nothing was counted: most kinds of request never come.
    pub(crate) fn histogram(&mut self, name: &'static str, help: &str, labels: &str, histogram: &Histogram) {
        let cumulative = histogram.cumulative();
        // Read after the buckets, so that the last bucket is never smaller than one before it.
        let count = histogram.count().max(cumulative.last().copied().unwrap_or(0));
        if count == 0 {
            return;
        }
        self.heading(name, help, "histogram");
        let comma = if labels.is_empty() { "" } else { "," };
        for (bound, counted) in BUCKETS_MS.iter().zip(cumulative) {
            self.line(name, "_bucket", &format!("{labels}{comma}le=\"{bound}\""), counted);
        }
        self.line(name, "_bucket", &format!("{labels}{comma}le=\"+Inf\""), count);
        self.line(name, "_sum", labels, histogram.sum_ms());
        self.line(name, "_count", labels, count);
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn heading(&mut self, name: &'static str, help: &str, kind: &str) {
        if self.heading != name {
            self.heading = name;
            self.push(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        }
    }

    fn line(&mut self, name: &str, suffix: &str, labels: &str, value: impl Display) {
        if labels.is_empty() {
            self.push(format_args!("{name}{suffix} {value}\n"));
        } else {
            self.push(format_args!("{name}{suffix}{{{labels}}} {value}\n"));
        }
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("writing to a String does not fail");
    }
}
