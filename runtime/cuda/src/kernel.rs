//! A function of an executable, ready to run.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use gpu::{Api, GpuError};

use crate::device::Device;
use crate::functions::Handle;

/// Where the compiler of a driver writes what is wrong with an image (`CU_JIT_ERROR_LOG_BUFFER` and
/// its size, which have the same numbers in HIP), in bytes.
const LOG: usize = 8192;
const LOG_OPTIONS: [i32; 2] = [5, 6];

/// The attribute of a kernel that lets its workgroups share more than 48 KiB
/// (`CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`).
const MAX_DYNAMIC_SHARED: i32 = 8;

/// An image of kernels that a device has loaded.
#[derive(Debug)]
pub struct Module {
    device: Arc<Device>,
    handle: Handle,
}

// SAFETY: it is the driver's name for the module, which any thread may use.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// How a kernel is launched, and what it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The threads of a workgroup in x, y and z.
    pub threads: [u32; 3],
    /// How many bytes a workgroup shares, beside those that its code declares.
    pub shared_memory: u32,
    /// How many buffers it takes.
    pub buffers: usize,
    /// How many constants of 32 bits come after them.
    pub constants: usize,
}

/// A kernel that is ready to run.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) module: Arc<Module>,
    pub(crate) function: Handle,
    pub(crate) launch: Launch,
}

// SAFETY: it is the driver's name for the function, which any thread may use.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

impl Module {
    /// Loads an image: PTX, which ends with a zero byte, or code for the device.
    ///
    /// # Errors
    /// The driver does not take it.
    ///
    /// # Safety
    /// The image is whole and valid: drivers take no length, and do not check it.
    pub(crate) unsafe fn load(device: &Arc<Device>, image: &[u8]) -> Result<Arc<Self>, GpuError> {
        device.check_use()?;
        let functions = device.functions()?;
        let mut handle = std::ptr::null_mut();
        let mut log = vec![0_u8; LOG];
        let mut options = LOG_OPTIONS;
        let mut values: [*mut c_void; 2] =
            [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(LOG - 1)];
        // SAFETY: by the contract; the log is longer than is said, so its text ends.
        let code = unsafe {
            (functions.module_load)(
                &raw mut handle,
                image.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        device.check("loading the executable", code).map_err(|error| {
            let text = CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy();
            match error {
                GpuError::Failed { call, result } if !text.trim().is_empty() => {
                    GpuError::Failed { call, result: format!("{result}: {}", text.trim()) }
                }
                other => other,
            }
        })?;
        Ok(Arc::new(Self { device: device.clone(), handle }))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.device.is_given_up() {
            return;
        }
        if let Ok(functions) = self.device.functions() {
            // SAFETY: kernels hold their module, and nothing runs.
            unsafe { (functions.module_unload)(self.handle) };
        }
    }
}

impl Kernel {
    /// A kernel of a module.
    ///
    /// # Errors
    /// The module does not have it, or it needs more than the device has.
    pub(crate) fn of(module: &Arc<Module>, name: &CStr, launch: Launch) -> Result<Self, GpuError> {
        let device = &module.device;
        device.check_use()?;
        check_limits(device, launch)?;
        let functions = device.functions()?;
        let mut function = std::ptr::null_mut();
        let name: *const c_char = name.as_ptr();
        // SAFETY: the module is alive, and the name ends.
        let code = unsafe { (functions.module_function)(&raw mut function, module.handle, name) };
        device.check("looking up the kernel", code)?;
        if device.driver.api() == Api::Cuda {
            let bytes = launch.shared_memory.cast_signed();
            // SAFETY: the function is the module's.
            let code =
                unsafe { (functions.function_attribute)(function, MAX_DYNAMIC_SHARED, bytes) };
            device.check("setting the size of shared memory", code)?;
        }
        Ok(Self { module: module.clone(), function, launch })
    }

    /// The device that it runs on.
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.module.device
    }

    /// Puts a launch into a stream.
    ///
    /// # Errors
    /// The driver refuses it.
    ///
    /// # Safety
    /// The kernel takes these parameters, and what they point to can be used until it has ended.
    pub(crate) unsafe fn launch(
        &self,
        stream: Handle,
        workgroups: [u32; 3],
        mut parameters: Vec<u64>,
    ) -> Result<(), GpuError> {
        let device = self.device();
        let functions = device.functions()?;
        // Each parameter is read from its own address, in as many bytes as it has: numbers are in
        // the first bytes of a word.
        let mut addresses: Vec<*mut c_void> =
            parameters.iter_mut().map(|it| std::ptr::from_mut(it).cast()).collect();
        let ([x, y, z], [a, b, c]) = (workgroups, self.launch.threads);
        let shared = self.launch.shared_memory;
        // SAFETY: by the contract; the driver has copied the parameters when it returns.
        let code = unsafe {
            (functions.launch)(
                self.function,
                x,
                y,
                z,
                a,
                b,
                c,
                shared,
                stream,
                addresses.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        device.check("launching the kernel", code)
    }
}

/// Checks what a kernel needs against what the device has.
fn check_limits(device: &Device, launch: Launch) -> Result<(), GpuError> {
    let description = &device.description;
    let limit = |what: String, allowed: String| {
        Err(GpuError::Limit { device: description.name.clone(), what, allowed })
    };
    let threads = launch.threads;
    let most = description.most_threads;
    let all = threads.iter().map(|it| u64::from(*it)).product::<u64>();
    if threads.contains(&0) || threads.iter().zip(most).any(|(it, most)| *it > most) {
        return limit(format!("workgroups of {threads:?} threads"), format!("{most:?}"));
    }
    if all > u64::from(description.most_threads_in_all) {
        let most = description.most_threads_in_all;
        return limit(format!("workgroups of {all} threads"), format!("{most}"));
    }
    if launch.shared_memory > description.most_shared {
        let (wanted, most) = (launch.shared_memory, description.most_shared);
        return limit(format!("{wanted} bytes shared by a workgroup"), format!("{most}"));
    }
    Ok(())
}
