//! Executables for CUDA and HIP: what IREE's compiler writes, `CDA1` and `HIP1`, as data.
//!
//! The fields are those of `cuda_executable_def.fbs` and `hip_executable_def.fbs` of IREE 3.13,
//! which are the same: only the images differ, PTX there and code objects here.

use std::ffi::CString;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use cuda::{Gpu, Kernel, Launch, Module};
use gpu::GpuError;
use vm::Status;

use super::executable::Definition;
use super::file::{SourceFiles, described, flatbuffer, missing};
use super::flat::{Budget, Table};
use crate::executables::interface::Export;

/// What the two formats differ in.
pub(super) trait Images: std::fmt::Debug + Send + Sync + 'static {
    /// The identifier of the format.
    const IDENTIFIER: &'static [u8; 4];

    /// An image as the driver takes it, which is not told its length.
    ///
    /// # Errors
    /// It is no such image.
    fn image(bytes: &[u8]) -> Result<Vec<u8>, Status>;
}

/// Texts of PTX.
#[derive(Debug)]
pub(super) struct Ptx;

/// Code objects of AMD's devices: ELF files, or bundles of them.
#[derive(Debug)]
pub(super) struct CodeObjects;

impl Images for Ptx {
    const IDENTIFIER: &'static [u8; 4] = b"CDA1";

    fn image(bytes: &[u8]) -> Result<Vec<u8>, Status> {
        if bytes.is_empty() || bytes.contains(&0) {
            return Err(Status::invalid_argument("an image of the executable is not PTX"));
        }
        Ok([bytes, &[0]].concat())
    }
}

impl Images for CodeObjects {
    const IDENTIFIER: &'static [u8; 4] = b"HIP1";

    fn image(bytes: &[u8]) -> Result<Vec<u8>, Status> {
        if bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"__CLANG_OFFLOAD_BUNDLE__") {
            return Ok(bytes.to_vec());
        }
        Err(Status::invalid_argument("an image of the executable is not a code object"))
    }
}

/// An executable as data. All indices are in range.
#[derive(Debug)]
pub(super) struct Kernels<I> {
    kernels: Vec<KernelDefinition>,
    images: Vec<Image>,
    kind: PhantomData<I>,
}

/// A function of an executable.
#[derive(Debug)]
struct KernelDefinition {
    export: Export,
    /// Index into the images.
    image: usize,
    name: CString,
    launch: Launch,
}

/// Code of kernels, and what the device makes of it when one of them is first dispatched.
#[derive(Debug)]
struct Image {
    bytes: Vec<u8>,
    loaded: OnceLock<Result<Arc<Module>, GpuError>>,
}

impl<I: Images> Definition for Kernels<I> {
    type Gpu = Gpu;

    const REFUSES_EMPTY: Option<&'static str> = None;

    fn read(data: &[u8]) -> Result<Self, Status> {
        let budget = Budget::of(data.len());
        let root = Table::root(flatbuffer(data, I::IDENTIFIER)?, &budget)?;
        let images = root.tables(1)?.into_iter().map(|module| {
            Ok(Image { bytes: I::image(module.bytes(0)?)?, loaded: OnceLock::new() })
        });
        let images = images.collect::<Result<Vec<Image>, Status>>()?;
        let sources = SourceFiles::of(&root, 2)?;
        let kernels = root.tables(0)?;
        let kernels = kernels.iter().map(|it| kernel(it, images.len(), &sources, &budget));
        let kernels = kernels.collect::<Result<_, _>>()?;
        Ok(Self { kernels, images, kind: PhantomData })
    }

    fn exports(&self) -> Vec<Export> {
        self.kernels.iter().map(|it| it.export.clone()).collect()
    }

    unsafe fn prepare(
        &self,
        gpu: &Gpu,
        export: usize,
        _constants: &[u32],
    ) -> Result<Kernel, GpuError> {
        let KernelDefinition { image, name, launch, .. } = &self.kernels[export];
        let Image { bytes, loaded } = &self.images[*image];
        // SAFETY: by the contract.
        let module = loaded.get_or_init(|| unsafe { gpu.load(bytes) });
        gpu.prepare(module.as_ref().map_err(Clone::clone)?, name, *launch)
    }
}

fn kernel(
    kernel: &Table<'_>,
    image_count: usize,
    sources: &SourceFiles,
    budget: &Budget,
) -> Result<KernelDefinition, Status> {
    let image = kernel.number(0, 0)?;
    if image as usize >= image_count {
        return Err(missing("image", image));
    }
    let name = CString::new(kernel.bytes(1)?)
        .map_err(|_| Status::invalid_argument("the name of a kernel has a zero byte"))?;
    let threads = kernel.structure(2)?.ok_or_else(|| missing("size of workgroups", 0))?;
    let launch = Launch {
        threads,
        shared_memory: kernel.number(3, 0)?,
        buffers: kernel.count_of_words64(5)?,
        constants: kernel.number(4, 0)? as usize,
    };
    let debug = kernel.table(6)?;
    let export = Export {
        constant_count: Some(launch.constants),
        binding_count: Some(launch.buffers),
        ..described(debug.as_ref(), kernel.text(1)?, sources, budget)?
    };
    Ok(KernelDefinition { export, image: image as usize, name, launch })
}
