//! The devices of the machine: what they are called, and what they are.

use std::ffi::{CStr, c_char};

use gpu::{Api, GpuName, NoGpu};

use crate::driver::{Attribute, Driver, codes};

/// A device of the machine.
#[derive(Clone, Debug)]
pub struct GpuDescription {
    /// Whose it is.
    pub api: Api,
    /// Its number, from 0: `cuda://0`.
    pub index: usize,
    /// Its name, as `NVIDIA H200`.
    pub name: String,
    /// Its universally unique identifier.
    pub uuid: [u8; 16],
    /// Its compute capability: major and minor.
    pub capability: [i32; 2],
    /// The version of the driver, as it numbers them: 12080 is 12.8 in CUDA.
    pub driver_version: i32,
    /// The most workgroups in x, y and z.
    pub most_workgroups: [u32; 3],
    /// The most threads of a workgroup in x, y and z.
    pub most_threads: [u32; 3],
    /// The most threads of a workgroup.
    pub most_threads_in_all: u32,
    /// The most bytes that a workgroup shares.
    pub most_shared: u32,
    /// Threads that run together.
    pub warp: u32,
    pub(crate) handle: i32,
    pub(crate) has_managed_memory: bool,
}

impl Driver {
    /// The devices of the machine.
    #[must_use]
    pub fn gpus(&'static self) -> Vec<GpuDescription> {
        let mut count = 0;
        // SAFETY: the driver has been initialised.
        let code = unsafe { (self.functions.device_count)(&raw mut count) };
        let count = if code == codes::SUCCESS { count } else { 0 };
        (0..count).filter_map(|index| self.described(index)).collect()
    }

    fn described(&'static self, index: i32) -> Option<GpuDescription> {
        let (mut handle, mut name, mut uuid) = (0, [0 as c_char; 256], [0; 16]);
        // SAFETY: what is written to lives here, and is as long as is said.
        let codes = unsafe {
            let functions = &self.functions;
            let got = (functions.device_get)(&raw mut handle, index);
            let named = (functions.device_name)(name.as_mut_ptr(), 255, handle);
            let identified = (functions.device_uuid)(&raw mut uuid, handle);
            [got, named, identified]
        };
        if codes != [codes::SUCCESS; 3] {
            return None;
        }
        let attribute = |attribute| {
            let mut value = 0;
            let number = self.number(attribute);
            // SAFETY: as above. What the driver does not know stays 0.
            unsafe { (self.functions.device_attribute)(&raw mut value, number, handle) };
            value
        };
        let limit = |it| u32::try_from(attribute(it)).unwrap_or_default();
        // SAFETY: the last byte was not given to the driver, so the text ends.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) };
        Some(GpuDescription {
            api: self.api(),
            index: index as usize,
            name: name.to_string_lossy().into_owned(),
            uuid,
            capability: Attribute::CAPABILITY.map(attribute),
            driver_version: self.version(),
            most_workgroups: Attribute::MAX_GRID.map(limit),
            most_threads: Attribute::MAX_BLOCK.map(limit),
            most_threads_in_all: limit(Attribute::MAX_THREADS),
            most_shared: limit(Attribute::SHARED_MEMORY),
            warp: limit(Attribute::WARP_SIZE),
            handle,
            has_managed_memory: attribute(Attribute::CONCURRENT_MANAGED_ACCESS) == 1,
        })
    }

    /// The device of a name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn find(&'static self, name: GpuName) -> Result<GpuDescription, NoGpu> {
        let names = |gpu: &GpuDescription| name.names(gpu.index, gpu.uuid);
        name.find(self.api(), self.gpus(), names, GpuDescription::uri)
    }
}

impl GpuDescription {
    /// Its name for `--device=`, as IREE writes it.
    #[must_use]
    pub fn uri(&self) -> String {
        let digits: String = self.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let ends = [0, 8, 12, 16, 20, 32];
        let groups: Vec<&str> = ends.windows(2).map(|it| &digits[it[0]..it[1]]).collect();
        format!("{}://GPU-{}", self.api.driver(), groups.join("-"))
    }

    /// An answer to a question that a program asks of such a device; `None` if it is unknown.
    #[must_use]
    pub fn answer(&self, category: &str, key: &str) -> Option<i64> {
        let [major, minor] = self.capability;
        match (self.api, category, key) {
            (Api::Cuda, "cuda.device", "compute_capability_major") => Some(major.into()),
            (Api::Cuda, "cuda.device", "compute_capability_minor") => Some(minor.into()),
            _ => None,
        }
    }

    /// What is known of it, a line each.
    #[must_use]
    pub fn details(&self) -> String {
        let Self { name, driver_version, most_workgroups, most_threads, .. } = self;
        let [major, minor] = self.capability;
        format!(
            "{name}, compute capability {major}.{minor}, driver version {driver_version}\nwarps of \
             {}; at most {most_workgroups:?} workgroups of {most_threads:?}, {} threads, {} bytes \
             shared\n",
            self.warp, self.most_threads_in_all, self.most_shared
        )
    }
}
