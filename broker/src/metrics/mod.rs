//! Counters, gauges and histograms under Kafka's names, and the page that prints them.
