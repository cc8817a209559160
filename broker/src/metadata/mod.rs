//! What the controller taught this broker about the cluster, as snapshots that never change.
