//! The flags for graphics processors, with the names that IREE's tools have for them.

use std::path::PathBuf;
use std::time::Duration;

use super::iree_flags::parse_switch;
use hal::{Config, GpuOptions, NoGpu, VulkanOptions};

/// How graphics processors are opened and used.
#[derive(clap::Args)]
pub(super) struct GpuArguments {
    /// Where the loader of Vulkan is, as a file or its folder; by default where the system looks
    #[arg(long = "vulkan_libvulkan_search_path", value_name = "PATH")]
    library: Option<String>,

    /// Let the validation layers of Vulkan look on; what they call an error fails the dispatch
    #[arg(long = "vulkan_validation_layers", value_name = "BOOL", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch)]
    validates: bool,

    /// Use graphics processors in a process of its own: a driver that crashes ends only that
    #[arg(long = "gpu-apart")]
    is_apart: bool,

    /// How many seconds a dispatch may take on a graphics processor before that is given up
    #[arg(long = "gpu-timeout", value_name = "SECONDS", alias = "vulkan-timeout")]
    #[arg(default_value_t = GpuOptions::default().patience.as_secs())]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
}

impl GpuArguments {
    /// Opens the graphics processors that a program is to see.
    pub(super) fn open(&self, config: Config) -> Result<Config, NoGpu> {
        let options = GpuOptions { patience: Duration::from_secs(self.timeout) };
        let config = config.with_gpus_as(&self.options(), options)?;
        Ok(Config { gpus_are_apart: self.is_apart, ..config })
    }

    fn options(&self) -> VulkanOptions {
        // IREE's tools take nothing for the default.
        let library = self.library.as_deref().filter(|path| !path.is_empty());
        VulkanOptions { library: library.map(PathBuf::from), validates: self.validates }
    }

    /// Whether no flag is given.
    pub(super) fn is_unspecified(&self) -> bool {
        self.options() == VulkanOptions::default()
            && !self.is_apart
            && self.timeout == GpuOptions::default().patience.as_secs()
    }
}
