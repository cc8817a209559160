//! Record batches and message sets.
