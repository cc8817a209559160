//! Tables, matrices, sparklines, timelines and popups that know no Kafka.
