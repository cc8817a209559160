//! Keeps this broker registered: at the start, and in every new session.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use arc_swap::ArcSwap;

use crate::types::{BrokerEpoch, BrokerId};
use crate::zk::layout::broker::Registration;
use crate::zk::session::SessionIdentity;
use crate::zk::{Error, Zk, registration};

/// What is known once the broker is registered.
#[derive(Debug, Clone)]
pub struct Registered {
    /// The epoch of this registration.
    pub epoch: BrokerEpoch,
    /// The session that it lives in.
    pub session: SessionIdentity,
}

type Hook = Box<dyn Fn(&Registered) + Send + Sync>;

/// Registers this broker, and knows its epoch.
pub struct Registrar {
    zk: Zk,
    broker: BrokerId,
    registration: ArcSwap<Registration>,
    epoch: AtomicI64,
    on_registered: Hook,
}

impl fmt::Debug for Registrar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registrar").field("broker", &self.broker).field("epoch", &self.epoch()).finish()
    }
}

impl Registrar {
    /// Returns the registrar of `broker`; `on_registered` is called after every registration.
    pub fn new(
        zk: Zk,
        broker: BrokerId,
        registration: Registration,
        on_registered: impl Fn(&Registered) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            zk,
            broker,
            registration: ArcSwap::from_pointee(registration),
            epoch: AtomicI64::new(BrokerEpoch::UNKNOWN.0),
            on_registered: Box::new(on_registered),
        })
    }

    /// Registers the broker in the current session.
    ///
    /// # Errors
    /// When another broker has the id or the address, or the session is over.
    pub async fn register(&self) -> Result<Registered, Error> {
        let session = self.zk.session();
        let registration = self.registration.load_full();
        let epoch = registration::register(&self.zk, self.broker, &registration).await?;
        self.epoch.store(epoch.0, Ordering::Release);
        let registered = Registered { epoch, session: session.identity().clone() };
        tracing::info!(broker = %self.broker, %epoch, "registered the broker");
        (self.on_registered)(&registered);
        Ok(registered)
    }

    /// Advertises something else from now on; the epoch stays.
    ///
    /// # Errors
    /// When the broker is not registered, or the session is over.
    pub async fn update(&self, registration: Registration) -> Result<(), Error> {
        self.registration.store(Arc::new(registration.clone()));
        registration::update(&self.zk.session(), self.broker, &registration).await
    }

    /// Returns the epoch of the last registration; unknown before the first.
    #[must_use]
    pub fn epoch(&self) -> BrokerEpoch {
        BrokerEpoch(self.epoch.load(Ordering::Acquire))
    }
}
