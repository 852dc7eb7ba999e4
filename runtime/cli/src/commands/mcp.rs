//! `iree-dbg mcp`: serves agents over the Model Context Protocol.

use std::path::PathBuf;

use hal::SandboxChoice;
use mcp::{Access, Allowed, Options, serve_stdio};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder whose files clients may name; repeat it for several. The first one is where
    /// relative paths begin; by default, that is the current folder alone
    #[arg(long = "root", value_name = "FOLDER")]
    roots: Vec<PathBuf>,

    /// What clients may do besides looking: `compile` starts iree-compile, `write` writes files in
    /// the folders
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    allow: Vec<Allow>,

    /// Run machine code in modules in a process of its own that can only compute: `on`, `off`, or
    /// `auto`, for recordings (on Linux on x86-64)
    #[arg(long, value_name = "WHEN", default_value_t = SandboxChoice::On)]
    sandbox: SandboxChoice,

    /// Refuse to run machine code in modules: only bytecode runs
    #[arg(long = "no-native", conflicts_with = "sandbox")]
    no_native: bool,

    /// Print how agents use it, for an AGENTS.md, and end
    #[arg(long)]
    agents_md: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Allow {
    /// Start iree-compile and IREE's other tools
    Compile,
    /// Write files in the folders
    Write,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    if arguments.agents_md {
        out!("{}", mcp::GUIDE);
        return Ok(ExitStatus::Success);
    }
    let here = || std::env::current_dir().map(|it| vec![it]);
    let roots = if arguments.roots.is_empty() { here()? } else { arguments.roots.clone() };
    let allowed: Vec<Allowed> = arguments.allow.iter().map(|it| allowed(*it)).collect();
    let native_code = match arguments.no_native {
        true => hal::NativeCode::Refused,
        false => arguments.sandbox.native_code(false),
    };
    let access = Access::new(&roots, &allowed, native_code)?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    serve_stdio(Options { access, executable: std::env::current_exe()?, version })?;
    Ok(ExitStatus::Success)
}

fn allowed(flag: Allow) -> Allowed {
    match flag {
        Allow::Compile => Allowed::Compile,
        Allow::Write => Allowed::Write,
    }
}
