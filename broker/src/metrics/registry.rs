//! Who has which metric.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::counter::{Counter, Gauge};
use super::histogram::Histogram;
use super::text::Page;

/// Labels of a series, as they are printed: `a="1",b="2"`.
type Labels = String;

/// A function that reads a number when the page is printed.
type Reader = Box<dyn Fn() -> f64 + Send + Sync>;

/// A function that gives any number of series when the page is printed.
type Collector = Box<dyn Fn(&mut Samples) + Send + Sync>;

enum Series {
    Counter(Arc<Counter>),
    Gauge(Arc<Gauge>),
    Histogram(Arc<Histogram>),
    Reader(Reader),
}

struct Family {
    help: &'static str,
    series: BTreeMap<Labels, Series>,
}

/// All metrics of a broker.
#[derive(Default)]
pub struct Metrics {
    families: Mutex<BTreeMap<&'static str, Family>>,
    collectors: Mutex<Vec<Collector>>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").field("families", &lock(&self.families).len()).finish_non_exhaustive()
    }
}

impl Metrics {
    /// Makes an empty registry.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// Returns the counter of that name and labels, made when it is new.
    pub fn counter(&self, name: &'static str, help: &'static str, labels: &[(&str, &str)]) -> Arc<Counter> {
        let make = || Series::Counter(Arc::default());
        self.series(name, help, labels, make, |series| match series {
            Series::Counter(counter) => Some(Arc::clone(counter)),
            Series::Gauge(_) | Series::Histogram(_) | Series::Reader(_) => None,
        })
    }

    /// Returns the gauge of that name and labels, made when it is new.
    pub fn gauge(&self, name: &'static str, help: &'static str, labels: &[(&str, &str)]) -> Arc<Gauge> {
        let make = || Series::Gauge(Arc::default());
        self.series(name, help, labels, make, |series| match series {
            Series::Gauge(gauge) => Some(Arc::clone(gauge)),
            Series::Counter(_) | Series::Histogram(_) | Series::Reader(_) => None,
        })
    }

    /// Returns the histogram of that name and labels, made when it is new.
    pub fn histogram(
        &self,
        name: &'static str,
        help: &'static str,
        labels: &[(&str, &str)],
    ) -> Arc<Histogram> {
        let make = || Series::Histogram(Arc::default());
        self.series(name, help, labels, make, |series| match series {
            Series::Histogram(histogram) => Some(Arc::clone(histogram)),
            Series::Counter(_) | Series::Gauge(_) | Series::Reader(_) => None,
        })
    }

    /// Adds a gauge whose value is read when the page is printed; it replaces one of the same name and labels.
    pub fn gauge_reader(
        &self,
        name: &'static str,
        help: &'static str,
        labels: &[(&str, &str)],
        reader: impl Fn() -> f64 + Send + Sync + 'static,
    ) {
        let mut families = lock(&self.families);
        let family = families.entry(name).or_insert_with(|| Family { help, series: BTreeMap::new() });
        family.series.insert(print_labels(labels), Series::Reader(Box::new(reader)));
    }

    /// Adds a function that gives any number of series when the page is printed: for what comes and goes, such as
    /// partitions.
    pub fn collector(&self, collector: impl Fn(&mut Samples) + Send + Sync + 'static) {
        lock(&self.collectors).push(Box::new(collector));
    }

    /// Prints all metrics as Prometheus reads them (text format 0.0.4).
    #[must_use]
    pub fn render(&self) -> String {
        let mut page = Page::default();
        for (name, family) in lock(&self.families).iter() {
            for (labels, series) in &family.series {
                match series {
                    Series::Counter(counter) => page.counter(name, family.help, labels, counter.value()),
                    Series::Gauge(gauge) => page.integer(name, family.help, labels, gauge.value()),
                    Series::Histogram(histogram) => page.histogram(name, family.help, labels, histogram),
                    Series::Reader(reader) => page.number(name, family.help, labels, reader()),
                }
            }
        }
        let mut samples = Samples::default();
        for collector in lock(&self.collectors).iter() {
            collector(&mut samples);
        }
        for (name, (help, series)) in samples.0 {
            for (labels, value) in series {
                page.number(name, help, &labels, value);
            }
        }
        page.finish()
    }

    fn series<T: Default>(
        &self,
        name: &'static str,
        help: &'static str,
        labels: &[(&str, &str)],
        make: impl FnOnce() -> Series,
        take: impl FnOnce(&Series) -> Option<Arc<T>>,
    ) -> Arc<T> {
        let mut families = lock(&self.families);
        let family = families.entry(name).or_insert_with(|| Family { help, series: BTreeMap::new() });
        let series = family.series.entry(print_labels(labels)).or_insert_with(make);
        let found = take(series);
        debug_assert!(found.is_some(), "{name} is registered as another kind of metric");
        found.unwrap_or_default()
    }
}

/// Series given by a collector, grouped by name.
#[derive(Debug, Default)]
pub struct Samples(BTreeMap<&'static str, Collected>);

/// The help and the series of one name.
type Collected = (&'static str, Vec<(Labels, f64)>);

impl Samples {
    /// Adds one gauge.
    pub fn gauge(&mut self, name: &'static str, help: &'static str, labels: &[(&str, &str)], value: f64) {
        self.0.entry(name).or_insert_with(|| (help, Vec::new())).1.push((print_labels(labels), value));
    }
}

fn print_labels(labels: &[(&str, &str)]) -> Labels {
    let mut printed = String::new();
    for (name, value) in labels {
        if !printed.is_empty() {
            printed.push(',');
        }
        printed.push_str(name);
        printed.push_str("=\"");
        for c in value.chars() {
            match c {
                '\\' => printed.push_str("\\\\"),
                '"' => printed.push_str("\\\""),
                '\n' => printed.push_str("\\n"),
                other => printed.push(other),
            }
        }
        printed.push('"');
    }
    printed
}

/// A panic while printing leaves numbers, not broken promises.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_page_is_what_prometheus_reads() {
        let metrics = Metrics::new();
        metrics.counter("kafka_a_total", "Counted.", &[("request", "Fetch")]).add(3);
        metrics.counter("kafka_a_total", "Counted.", &[("request", "Fetch")]).increment();
        metrics.gauge("kafka_b", "Set.", &[]).set(-2);
        metrics.gauge_reader("kafka_c", "Read.", &[("x", "a\"b")], || 0.5);
        metrics.collector(|samples| {
            for partition in ["0", "1"] {
                samples.gauge("kafka_d", "Collected.", &[("partition", partition)], 7.0);
            }
        });
        let expected = "# HELP kafka_a_total Counted.\n# TYPE kafka_a_total counter\nkafka_a_total{request=\"Fetch\"} 4\n\
             # HELP kafka_b Set.\n# TYPE kafka_b gauge\nkafka_b -2\n\
             # HELP kafka_c Read.\n# TYPE kafka_c gauge\nkafka_c{x=\"a\\\"b\"} 0.5\n\
             # HELP kafka_d Collected.\n# TYPE kafka_d gauge\nkafka_d{partition=\"0\"} 7\nkafka_d{partition=\"1\"} 7\n";
        assert_eq!(metrics.render(), expected);
    }

    #[test]
    fn a_histogram_prints_its_buckets_once_something_was_counted() {
        let metrics = Metrics::new();
        let histogram = metrics.histogram("kafka_ms", "Times.", &[("request", "Fetch")]);
        assert!(!metrics.render().contains("kafka_ms"));
        histogram.observe(Duration::from_millis(2));
        let page = metrics.render();
        assert!(page.contains("kafka_ms_bucket{request=\"Fetch\",le=\"1\"} 0\n"), "{page}");
        assert!(page.contains("kafka_ms_bucket{request=\"Fetch\",le=\"2.5\"} 1\n"), "{page}");
        assert!(page.contains("kafka_ms_bucket{request=\"Fetch\",le=\"+Inf\"} 1\n"), "{page}");
        assert!(
            page.contains("kafka_ms_sum{request=\"Fetch\"} 2\nkafka_ms_count{request=\"Fetch\"} 1\n"),
            "{page}"
        );
    }
}
