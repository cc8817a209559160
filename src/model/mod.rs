//! What is known of the cluster: plain data, changed only by applying updates.
