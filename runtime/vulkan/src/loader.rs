//! The system's Vulkan library, opened when it is asked for, and what its validation layers say.

use std::collections::HashMap;
use std::ffi::{CStr, c_void};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ash::vk;
use gpu::NoGpu;
use libloading::Library;

use crate::error::{API, not_started};

/// The layers that check how Vulkan is used.
const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";

/// The names of the library.
const LIBRARIES: &[&str] = if cfg!(windows) {
    &["vulkan-1.dll"]
} else if cfg!(target_os = "macos") {
    &["libvulkan.dylib", "libvulkan.1.dylib", "libMoltenVK.dylib"]
} else {
    &["libvulkan.so.1", "libvulkan.so"]
};

/// How to open Vulkan.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct VulkanOptions {
    /// The library, or the folder that it is in; by default where the system looks for libraries.
    pub library: Option<PathBuf>,
    /// Whether the validation layers look on.
    pub validates: bool,
}

/// Vulkan on this machine. Once open, it stays so to the end of the process, as drivers do not like
/// to be unloaded.
pub struct Vulkan {
    instance: ash::Instance,
    messages: &'static Messages,
    /// The library, which has all functions of the instance.
    _library: Library,
}

/// What the validation layers said since they were last asked.
#[derive(Debug, Default)]
struct Messages(Mutex<Vec<String>>);

/// All that is open.
static OPEN: Mutex<Option<HashMap<VulkanOptions, &'static Vulkan>>> = Mutex::new(None);

impl fmt::Debug for Vulkan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vulkan").finish_non_exhaustive()
    }
}

impl Vulkan {
    /// Vulkan as the options want it.
    ///
    /// # Errors
    /// There is no library, or no layers, or the library does not work.
    pub fn open(options: &VulkanOptions) -> Result<&'static Self, NoGpu> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.get_or_insert_default();
        if let Some(known) = open.get(options) {
            return Ok(known);
        }
        let new: &'static Self = Box::leak(Box::new(Self::new(options)?));
        open.insert(options.clone(), new);
        Ok(new)
    }

    fn new(options: &VulkanOptions) -> Result<Self, NoGpu> {
        let library = library(options)?;
        // SAFETY: the function has this type in every library of Vulkan, and the library stays open
        // as long as `entry`.
        let entry = unsafe {
            let get = library.get::<vk::PFN_vkGetInstanceProcAddr>(b"vkGetInstanceProcAddr\0");
            let get = get.map_err(|error| NoGpu::no_library(API, &error))?;
            ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: *get })
        };
        if options.validates && !has_layer(&entry, VALIDATION) {
            return Err(NoGpu::NoValidation);
        }
        let application = vk::ApplicationInfo::default()
            .application_name(c"iree-dbg")
            .api_version(vk::API_VERSION_1_3);
        let is_portable = has_extension(&entry, ash::khr::portability_enumeration::NAME);
        let (mut layers, mut extensions) = (Vec::new(), Vec::new());
        if options.validates {
            layers.push(VALIDATION.as_ptr());
            extensions.push(ash::ext::debug_utils::NAME.as_ptr());
        }
        if is_portable {
            extensions.push(ash::khr::portability_enumeration::NAME.as_ptr());
        }
        let flags = if is_portable {
            vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR
        } else {
            vk::InstanceCreateFlags::empty()
        };
        let create = vk::InstanceCreateInfo::default()
            .flags(flags)
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions);
        // SAFETY: all that it points to lives until the call returns.
        let instance =
            unsafe { entry.create_instance(&create, None) }.map_err(|error| match error {
                vk::Result::ERROR_INCOMPATIBLE_DRIVER => NoGpu::NoDevices(API),
                other => not_started(format!("vkCreateInstance: {other:?}")),
            })?;
        let messages: &'static Messages = Box::leak(Box::default());
        if options.validates {
            listen(&entry, &instance, messages)?;
        }
        Ok(Self { instance, messages, _library: library })
    }

    pub(crate) fn instance(&self) -> &ash::Instance {
        &self.instance
    }

    /// What the validation layers said since this was last asked.
    pub(crate) fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut self.messages.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Opens the library.
fn library(options: &VulkanOptions) -> Result<Library, NoGpu> {
    let paths: Vec<PathBuf> = match &options.library {
        Some(path) if path.is_dir() => LIBRARIES.iter().map(|name| path.join(name)).collect(),
        Some(path) => vec![path.clone()],
        None => LIBRARIES.iter().map(PathBuf::from).collect(),
    };
    let mut first = None;
    for path in paths {
        // SAFETY: what a library of Vulkan does as it is opened is the system's business: the user
        // has asked for a Vulkan device.
        match unsafe { Library::new(&path) } {
            Ok(library) => return Ok(library),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(NoGpu::no_library(API, &first.expect("no library without an error")))
}

fn has_layer(entry: &ash::Entry, name: &CStr) -> bool {
    // SAFETY: the function needs no instance.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
    layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(name))
}

fn has_extension(entry: &ash::Entry, name: &CStr) -> bool {
    // SAFETY: the function needs no instance.
    let all = unsafe { entry.enumerate_instance_extension_properties(None) }.unwrap_or_default();
    all.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name))
}

/// Collects what the validation layers call an error, to the end of the process.
fn listen(
    entry: &ash::Entry,
    instance: &ash::Instance,
    messages: &'static Messages,
) -> Result<(), NoGpu> {
    let functions = ash::ext::debug_utils::Instance::new(entry, instance);
    let create = vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        .pfn_user_callback(Some(note))
        .user_data(std::ptr::from_ref(messages).cast_mut().cast());
    // SAFETY: `messages` lives to the end of the process, and is only shared.
    let messenger = unsafe { functions.create_debug_utils_messenger(&create, None) };
    messenger
        .map(drop)
        .map_err(|error| not_started(format!("vkCreateDebugUtilsMessengerEXT: {error:?}")))
}

/// What the layers call.
///
/// # Safety
/// `user_data` points to [`Messages`], and `data` to what Vulkan says that it does.
unsafe extern "system" fn note(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user_data: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: by the contract.
    unsafe {
        let messages = &*user_data.cast::<Messages>();
        let text = (*data).message_as_c_str().map(|text| text.to_string_lossy().into_owned());
        messages.0.lock().unwrap_or_else(PoisonError::into_inner).extend(text);
    }
    vk::FALSE
}
