//! What each request means: a pool of threads, one router, one file per API.

mod pool;

pub use pool::HandlerPool;
