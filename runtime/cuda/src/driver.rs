//! The driver's library, opened when it is asked for, and what its errors mean.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use gpu::{Api, GpuError, NoGpu};
use libloading::Library;

use crate::functions::{Code, Functions};

/// Results that mean something here; the numbers are the same in both interfaces.
pub(crate) mod codes {
    use crate::functions::Code;

    pub(crate) const SUCCESS: Code = 0;
    pub(crate) const OUT_OF_MEMORY: Code = 2;
    pub(crate) const NO_DEVICE: Code = 100;
    pub(crate) const NOT_READY: Code = 600;
    /// After one of these the context is dead: a kernel wrote where it may not, ran into a trap, or
    /// took longer than the driver lets it.
    pub(crate) const ENDS_CONTEXT: [Code; 8] = [214, 700, 702, 714, 715, 716, 717, 719];
}

/// The names of the library.
fn libraries(api: Api) -> &'static [&'static str] {
    match (api, cfg!(windows)) {
        (Api::Hip, true) => &["amdhip64_6.dll", "amdhip64.dll"],
        (Api::Hip, false) => &["libamdhip64.so", "libamdhip64.so.6", "libamdhip64.so.5"],
        (_, true) => &["nvcuda.dll"],
        (_, false) => &["libcuda.so.1", "libcuda.so"],
    }
}

/// CUDA or HIP on this machine. Once open, it stays so to the end of the process, as drivers do not
/// like to be unloaded.
pub struct Driver {
    api: Api,
    pub(crate) functions: Functions,
    _library: Library,
}

/// What is open.
static OPEN: Mutex<Vec<&'static Driver>> = Mutex::new(Vec::new());

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Driver").field(&self.api).finish()
    }
}

impl Driver {
    /// The driver of CUDA or of HIP.
    ///
    /// # Errors
    /// There is no library, it lacks a function, or it does not work.
    ///
    /// # Panics
    /// The interface is neither of these.
    pub fn open(api: Api) -> Result<&'static Self, NoGpu> {
        assert!(matches!(api, Api::Cuda | Api::Hip), "a driver of CUDA or HIP");
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.iter().find(|it| it.api == api) {
            return Ok(known);
        }
        let new: &'static Self = Box::leak(Box::new(Self::new(api)?));
        open.push(new);
        Ok(new)
    }

    fn new(api: Api) -> Result<Self, NoGpu> {
        let mut first = None;
        let opened = libraries(api).iter().find_map(|name| {
            // SAFETY: what the library does as it is opened is the system's business: the user has
            // asked for a device of it.
            let library = unsafe { Library::new(*name) };
            library.map_err(|error| first = first.take().or(Some(error))).ok()
        });
        let library = opened.ok_or_else(|| {
            let error = first.expect("no library without an error");
            NoGpu::no_library(api, &error)
        })?;
        // SAFETY: the library has the name of the driver's, and stays open in the driver.
        let functions = unsafe { Functions::of(&library, api) };
        let functions = functions.map_err(|reason| NoGpu::NoLibrary { api, reason })?;
        let driver = Self { api, functions, _library: library };
        // SAFETY: it may be called at any time.
        match unsafe { (driver.functions.init)(0) } {
            codes::SUCCESS => Ok(driver),
            codes::NO_DEVICE => Err(NoGpu::NoDevices(api)),
            code => Err(NoGpu::NotStarted { api, reason: driver.functions.describe(code) }),
        }
    }

    /// Whose it is.
    #[must_use]
    pub fn api(&self) -> Api {
        self.api
    }

    /// The version that it has, as it numbers them.
    #[must_use]
    pub fn version(&self) -> i32 {
        let mut version = 0;
        // SAFETY: it has been initialised.
        unsafe { (self.functions.driver_version)(&raw mut version) };
        version
    }

    /// The error for what a function returned; none for success.
    pub(crate) fn check(&self, call: &'static str, code: Code) -> Result<(), GpuError> {
        match code {
            codes::SUCCESS => Ok(()),
            codes::OUT_OF_MEMORY => {
                Err(GpuError::OutOfMemory { api: self.api, what: call.to_owned() })
            }
            code if codes::ENDS_CONTEXT.contains(&code) => {
                Err(GpuError::Fault { api: self.api, result: self.functions.describe(code) })
            }
            code => Err(GpuError::Failed { call, result: self.functions.describe(code) }),
        }
    }

    /// The number of an attribute in this interface.
    pub(crate) fn number(&self, attribute: Attribute) -> i32 {
        if self.api == Api::Hip { attribute.hip } else { attribute.cuda }
    }
}

/// What a device is asked about itself, by its number in `cuda.h` (12) and in `hip_runtime_api.h`
/// (5 and 6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Attribute {
    cuda: i32,
    hip: i32,
}

impl Attribute {
    /// The most threads in a workgroup.
    pub(crate) const MAX_THREADS: Self = Self { cuda: 1, hip: 56 };
    /// The same along each axis.
    pub(crate) const MAX_BLOCK: [Self; 3] = Self::axes(2, 26);
    /// The most workgroups along each axis.
    pub(crate) const MAX_GRID: [Self; 3] = Self::axes(5, 29);
    /// The most bytes that a workgroup shares.
    pub(crate) const SHARED_MEMORY: Self = Self { cuda: 97, hip: 74 };
    /// Threads that run together.
    pub(crate) const WARP_SIZE: Self = Self { cuda: 10, hip: 87 };
    /// The generation of the device: major and minor.
    pub(crate) const CAPABILITY: [Self; 2] =
        [Self { cuda: 75, hip: 23 }, Self { cuda: 76, hip: 61 }];
    /// Whether host and device may use managed memory at the same time.
    pub(crate) const CONCURRENT_MANAGED_ACCESS: Self = Self { cuda: 89, hip: 9 };

    /// One for x, and the next ones for y and z.
    const fn axes(cuda: i32, hip: i32) -> [Self; 3] {
        let [x, y, z] = [0, 1, 2];
        [
            Self { cuda: cuda + x, hip: hip + x },
            Self { cuda: cuda + y, hip: hip + y },
            Self { cuda: cuda + z, hip: hip + z },
        ]
    }
}
