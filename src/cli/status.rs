//! `ottla status`: the model as it is now, as text or JSON.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use ottla_broker::types::Millis;

use super::arguments::StatusArguments;
use super::failure::Failure;
use super::{output, role, up};
use crate::effect;
use crate::model::{Model, Status};
use crate::source::{ReadOnce, read_once};
use crate::supervisor::{self, Driver};

pub(super) fn run(arguments: &StatusArguments) -> Result<ExitCode, Failure> {
    let opened = supervisor::find(&arguments.cluster.data_dir()?)?;
    let from = ReadOnce { zookeeper: opened.spec.zookeeper_connect(), layout: Some(opened.layout.clone()) };
    role::runtime()?.block_on(async {
        let driver = Driver::new(opened, up::options(false)?);
        let mut model = Model::default();
        let mut take = |update| model.apply(now(), update);
        take(effect::profile(driver.spec(), driver.layout()));
        effect::process_updates(&driver).into_iter().for_each(&mut take);
        Box::pin(read_once(&from)).await.into_iter().for_each(&mut take);
        let status = Status::of(&model, now());
        if arguments.json {
            let text = serde_json::to_string_pretty(&status)
                .map_err(|error| Failure::because("write the status as JSON", &error))?;
            output::line(&text);
        } else {
            output::status(&status, &model);
        }
        let is_running = !driver.machine().is_down();
        Ok(if is_running { ExitCode::SUCCESS } else { ExitCode::from(3) })
    })
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
