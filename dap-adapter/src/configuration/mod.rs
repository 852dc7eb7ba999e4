//! The arguments of `launch` and `attach`: what a client may configure, checked and converted for
//! the debugger. Nothing here runs a program or compiles one.

mod attach;
mod expected;
mod host;
mod launch;
mod settings;
mod unfit;

pub(crate) use attach::AttachArguments;
pub(crate) use expected::Expected;
pub(crate) use launch::LaunchArguments;
pub(crate) use settings::Settings;
pub(crate) use unfit::Unfit;
