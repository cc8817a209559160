//! Gives the machine its ticks, exactly when it wants them: an idle server sleeps.

use std::cell::RefCell;
use std::rc::Rc;

use tokio::time::sleep_until;

use super::driver::Driver;

pub(super) async fn tick(driver: Rc<RefCell<Driver>>) {
    let (rearm, clock) = {
        let driver = driver.borrow();
        (Rc::clone(&driver.rearm), driver.clock())
    };
    loop {
        let deadline = driver.borrow_mut().arm();
        match deadline {
            None => rearm.notified().await,
            Some(deadline_ms) => {
                tokio::select! {
                    () = sleep_until(clock.instant(deadline_ms).into()) => driver.borrow_mut().tick(),
                    () = rearm.notified() => {}
                }
            }
        }
    }
}
