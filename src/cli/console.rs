//! `console`
pub(super) fn run(
    cluster: &super::arguments::ClusterArguments,
    console: &super::arguments::ConsoleArguments,
) -> Result<std::process::ExitCode, super::failure::Failure> {
    Err(super::failure::Failure::failed("this part has not landed"))
}
