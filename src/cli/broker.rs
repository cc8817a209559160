//! `broker`
pub(super) fn run(
    arguments: &super::arguments::BrokerArguments,
) -> Result<std::process::ExitCode, super::failure::Failure> {
    Err(super::failure::Failure::failed("this part has not landed"))
}
