//! Flags of IREE's tools that change nothing here, so that command lines for those tools can be
//! used as they are. One that is given says why it changes nothing.
//!
//! `tests/drop_in/flags.rs` compares with what the tools list.

use clap::{Arg, ArgAction, ArgMatches, Command};

/// Flags that share a reason.
struct Group {
    /// Follows `note: --flag: `.
    reason: &'static str,
    /// Names, with the value that needs no note.
    flags: &'static [(&'static str, &'static str)],
}

const GROUPS: &[Group] = &[
    Group {
        reason: "one stream, one dispatch after another, and --device= names the device",
        flags: &[
            ("cuda_use_streams", "true"),
            ("cuda_allow_inline_execution", "false"),
            ("cuda_async_allocations", "true"),
            ("cuda_tracing", "2"),
            ("cuda_default_index", "0"),
            ("cuda_default_index_from_mpi", "true"),
        ],
    },
    Group {
        reason: "one stream, one dispatch after another, and --device= names the device",
        flags: &[
            ("hip_use_streams", "true"),
            ("hip_allow_inline_execution", "false"),
            ("hip_async_allocations", "true"),
            ("hip_async_caching", "true"),
            ("hip_tracing", "2"),
            ("hip_default_index", "0"),
        ],
    },
    Group {
        reason: "HIP's library is looked for where the system looks (LD_LIBRARY_PATH)",
        flags: &[("hip_dylib_path", "")],
    },
    Group {
        reason: "one queue, one dispatch after another, and accesses that stay in their buffers",
        flags: &[
            ("vulkan_debug_utils", "false"),
            ("vulkan_debug_verbosity", "2"),
            ("vulkan_tracing", "true"),
            ("vulkan_robust_buffer_access", "false"),
            ("vulkan_sparse_binding", "false"),
            ("vulkan_sparse_residency", "false"),
            ("vulkan_buffer_device_addresses", "true"),
            ("vulkan_dispatch_abi", "all"),
            ("vulkan_cached_bda_replay_instances", "16"),
            ("vulkan_cached_bda_replay_publication_bytes", "67108864"),
            ("vulkan_retained_cached_bda_replay_instances", "1"),
            ("vulkan_dedicated_compute_queue", "true"),
        ],
    },
    Group {
        reason: "renderdoc and its like capture graphics processors; programs run on the CPU here",
        flags: &[
            ("device_capture_tool", ""),
            ("device_capture_file", ""),
            ("device_capture_label", ""),
        ],
    },
    Group {
        reason: "the system chooses the processors that threads run on; taskset restricts them",
        flags: &[
            ("task_topology_mode", "physical_cores"),
            ("task_topology_nodes", "current"),
            ("task_topology_performance_level", "any"),
            ("task_topology_distribution", "scatter"),
            ("task_topology_favor", ""),
        ],
    },
    Group {
        reason: "the number of threads comes from this machine, not from a snapshot",
        flags: &[("task_topology_snapshot", "")],
    },
    Group {
        reason: "a dispatch that fails ends the call with its status, and never the process",
        flags: &[("task_abort_on_failure", "false")],
    },
    Group {
        reason: "threads look for work for a moment, then sleep",
        flags: &[("task_worker_spin_us", "0")],
    },
    Group {
        reason: "each workgroup has the stack and the local memory that it asks for",
        flags: &[("task_worker_stack_size", "131072"), ("task_worker_local_memory", "0")],
    },
    Group {
        reason: "all devices are this CPU and share its memory",
        flags: &[("device_lead_allocator", "0")],
    },
    Group {
        reason: "files are mapped if they are large, and read if not",
        flags: &[("module_mode", "preload"), ("parameter_mode", "file")],
    },
    Group {
        reason: "it is about replays, which --device_replay_output would write",
        flags: &[
            ("device_replay_file_policy", "reference"),
            ("device_replay_file_validation", "identity"),
        ],
    },
    Group {
        reason: "programs run on the CPU, which counts no hardware events here",
        flags: &[("device_profiling_counter", "")],
    },
    Group {
        reason: "--device_profiling_output of `run` decides what is recorded, all that there is",
        flags: &[("device_profiling_mode", "")],
    },
    Group {
        // What it asks for is printed before anything else.
        reason: "nothing is printed for it",
        flags: &[("agents_md", "false")],
    },
    Group {
        reason: "all of the program is recorded, and written when it ends",
        flags: &[
            ("device_profiling_filter_function", ""),
            ("device_profiling_filter_command_buffer", "-1"),
            ("device_profiling_filter_command_index", "-1"),
            ("device_profiling_filter_physical_device", "-1"),
            ("device_profiling_filter_queue", "-1"),
            ("device_profiling_flush_interval_ms", "0"),
        ],
    },
];

/// Which of those flags were given, with values other than the usual ones.
pub(crate) struct IreeFlags {
    /// Indices into [`GROUPS`] and their flags.
    given: Vec<(usize, usize)>,
}

impl IreeFlags {
    /// What to tell the user: a line for each reason.
    pub(crate) fn notes(&self) -> Vec<String> {
        let groups = GROUPS.iter().enumerate().filter_map(|(index, group)| {
            let given = self.given.iter().filter(|(of, _)| *of == index);
            let names: Vec<String> =
                given.map(|(_, flag)| format!("--{}", group.flags[*flag].0)).collect();
            (!names.is_empty()).then(|| format!("{}: {}", names.join(", "), group.reason))
        });
        groups.collect()
    }
}

fn flags() -> impl Iterator<Item = ((usize, usize), &'static (&'static str, &'static str))> {
    GROUPS.iter().enumerate().flat_map(|(index, group)| {
        group.flags.iter().enumerate().map(move |(flag, row)| ((index, flag), row))
    })
}

impl clap::Args for IreeFlags {
    fn augment_args(command: Command) -> Command {
        command.args(flags().map(|(_, (name, _))| {
            Arg::new(*name)
                .long(*name)
                .value_name("VALUE")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .action(ArgAction::Append)
                .hide(true)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for IreeFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = flags().filter_map(|(place, (name, usual))| {
            let value = matches.get_many::<String>(name)?.next_back()?;
            (value != usual).then_some(place)
        });
        Ok(Self { given: given.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A text is neither true nor false.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("`true` or `false` is wanted")]
pub(crate) struct NoSwitch;

/// A switch as IREE's tools read it: `--flag`, `--flag=true`, `--flag=1`. A value that is none is
/// refused, where those tools take it for `false`.
pub(crate) fn parse_switch(text: &str) -> Result<bool, NoSwitch> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(NoSwitch),
    }
}
