//! From bytes to a [`Module`]: verify the FlatBuffer, copy the tables out, check them against each
//! other. Nothing here looks into bytecode.
//!
//! The checks mirror those of IREE's loader (`vm/bytecode/module.c`), and a few that it lacks.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use flatbuffers::VerifierOptions;

use crate::archive::{self, FileBytes};
use crate::debug_database::DebugDatabase;
use crate::error::LoadError;
use crate::module::{
    Attribute, BytecodeVersion, Dependency, Export, Features, Function, FunctionSignature, Import,
    Module, ModuleState, RodataSegment, TypeDef,
};
use crate::ordinals::{FunctionOrdinal, Register};
use crate::peek::unsupported_version;
use crate::schema::{
    AttrDef, BytecodeModuleDef, FunctionDescriptor, FunctionSignatureDef, ImportFlagBits,
    ModuleDependencyFlagBits, size_prefixed_root_as_bytecode_module_def_unchecked,
    size_prefixed_root_as_bytecode_module_def_with_opts,
};

/// Debug databases of large models have millions of location tables, and strings count each time
/// that they are shared; the depth of a module's tables is small.
const VERIFIER: VerifierOptions = VerifierOptions {
    max_depth: 64,
    max_tables: 100_000_000,
    max_apparent_size: 1 << 40,
    ignore_missing_null_terminator: false,
};

impl Module {
    /// Loads the module in the file at `path`, which stays mapped while the module lives.
    ///
    /// # Errors
    /// The file cannot be read or is not a module that this crate reads; see [`LoadError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Module, LoadError> {
        Self::from_bytes(FileBytes::open(path.as_ref())?)
    }

    /// Loads a module from bytes in memory.
    ///
    /// # Errors
    /// The bytes are not a module that this crate reads; see [`LoadError`].
    pub fn from_bytes(bytes: impl Into<FileBytes>) -> Result<Module, LoadError> {
        let bytes = bytes.into();
        let layout = archive::layout(&bytes)?;
        let reader = Reader {
            bytes: &bytes,
            flatbuffer: layout.flatbuffer.clone(),
            rodata_base: layout.rodata_base,
        };
        let flatbuffer = &bytes[layout.flatbuffer.clone()];
        if let Some(found) = unsupported_version(flatbuffer) {
            return Err(LoadError::Version { found });
        }
        let def = size_prefixed_root_as_bytecode_module_def_with_opts(&VERIFIER, flatbuffer)
            .map_err(|error| LoadError::FlatBuffer {
                offset: layout.flatbuffer.start,
                reason: error.to_string(),
            })?;
        let mut module = reader.module(def)?;
        module.bytes = bytes.clone();
        Ok(module)
    }
}

/// Reads the debug database of a module that was loaded.
pub(crate) fn debug_database(module: &Module) -> Option<DebugDatabase> {
    let buffer = module.flatbuffer_bytes();
    // SAFETY: `from_bytes` verified this very buffer as a size-prefixed module before the module
    // existed, and a module's bytes never change.
    let def = unsafe { size_prefixed_root_as_bytecode_module_def_unchecked(buffer) };
    Some(DebugDatabase::read(buffer, &VERIFIER, def.debug_database()?))
}

struct Reader<'a> {
    bytes: &'a [u8],
    flatbuffer: Range<usize>,
    rodata_base: usize,
}

fn malformed(what: impl Into<String>, reason: impl Into<String>) -> LoadError {
    LoadError::Malformed { what: what.into(), reason: reason.into() }
}

fn attributes<'a>(defs: impl Iterator<Item = AttrDef<'a>>) -> Vec<Attribute> {
    defs.map(|def| Attribute {
        key: def.key().unwrap_or_default().to_owned(),
        value: def.value().unwrap_or_default().to_owned(),
    })
    .collect()
}

fn signature(def: Option<FunctionSignatureDef<'_>>) -> FunctionSignature {
    def.map_or_else(FunctionSignature::default, |def| FunctionSignature {
        calling_convention: def.calling_convention().map(str::to_owned),
        attributes: attributes(def.attrs().into_iter().flatten()),
    })
}

impl Reader<'_> {
    fn module(&self, def: BytecodeModuleDef<'_>) -> Result<Module, LoadError> {
        if def.name().is_empty() {
            return Err(malformed("the module", "it has no name"));
        }
        let bytecode_version = BytecodeVersion::from_bits(def.bytecode_version());
        if !bytecode_version.is_supported() {
            return Err(LoadError::Version { found: bytecode_version });
        }
        let bytecode = self.range_of(def.bytecode_data().map(|data| data.bytes()));
        let functions = Self::functions(def, bytecode.len())?;
        Ok(Module {
            bytes: FileBytes::from(Vec::new()),
            flatbuffer: self.flatbuffer.clone(),
            name: def.name().to_owned(),
            version: def.version(),
            bytecode_version,
            requirements: Features(def.requirements().bits()),
            attributes: attributes(def.attrs().into_iter().flatten()),
            types: Self::types(def)?,
            dependencies: Self::dependencies(def)?,
            imports: Self::imports(def)?,
            exports: Self::exports(def, &functions)?,
            functions,
            rodata: self.rodata(def)?,
            state: Self::state(def)?,
            bytecode,
            debug_database: OnceLock::new(),
        })
    }

    fn types(def: BytecodeModuleDef<'_>) -> Result<Vec<TypeDef>, LoadError> {
        let types = def.types().into_iter().flatten().enumerate().map(|(index, def)| {
            match def.full_name() {
                Some(name) if !name.is_empty() => Ok(TypeDef { full_name: name.to_owned() }),
                _ => Err(malformed(format!("type {index}"), "it has no name")),
            }
        });
        types.collect()
    }

    fn dependencies(def: BytecodeModuleDef<'_>) -> Result<Vec<Dependency>, LoadError> {
        let dependencies =
            def.dependencies().into_iter().flatten().enumerate().map(|(index, def)| {
                let name = def.name().filter(|name| !name.is_empty());
                Ok(Dependency {
                    name: name
                        .ok_or_else(|| malformed(format!("dependency {index}"), "it has no name"))?
                        .to_owned(),
                    minimum_version: def.minimum_version(),
                    is_optional: def.flags().contains(ModuleDependencyFlagBits::OPTIONAL),
                })
            });
        dependencies.collect()
    }

    fn imports(def: BytecodeModuleDef<'_>) -> Result<Vec<Import>, LoadError> {
        let imports =
            def.imported_functions().into_iter().flatten().enumerate().map(|(index, def)| {
                let name = def.full_name().filter(|name| !name.is_empty());
                Ok(Import {
                    full_name: name
                        .ok_or_else(|| malformed(format!("import {index}"), "it has no name"))?
                        .to_owned(),
                    signature: signature(def.signature()),
                    is_optional: def.flags().contains(ImportFlagBits::OPTIONAL),
                })
            });
        imports.collect()
    }

    fn exports(
        def: BytecodeModuleDef<'_>,
        functions: &[Function],
    ) -> Result<Vec<Export>, LoadError> {
        let exports =
            def.exported_functions().into_iter().flatten().enumerate().map(|(index, def)| {
                let name = def.local_name().filter(|name| !name.is_empty());
                let name =
                    name.ok_or_else(|| malformed(format!("export {index}"), "it has no name"))?;
                let ordinal = usize::try_from(def.internal_ordinal())
                    .ok()
                    .filter(|ordinal| *ordinal < functions.len())
                    .ok_or_else(|| {
                        malformed(
                            format!("export {index} ({name})"),
                            format!(
                                "it names function {}, the module has {}",
                                def.internal_ordinal(),
                                functions.len()
                            ),
                        )
                    })?;
                Ok(Export { name: name.to_owned(), function: FunctionOrdinal::from_index(ordinal) })
            });
        exports.collect()
    }

    fn functions(
        def: BytecodeModuleDef<'_>,
        bytecode_length: usize,
    ) -> Result<Vec<Function>, LoadError> {
        let descriptors = def.function_descriptors();
        let descriptor_count = descriptors.map_or(0, |descriptors| descriptors.len());
        let signatures = def.function_signatures();
        let signature_count = signatures.map_or(0, |signatures| signatures.len());
        if signature_count != 0 && signature_count != descriptor_count {
            return Err(malformed(
                "the function tables",
                format!("{descriptor_count} descriptors but {signature_count} signatures"),
            ));
        }
        let functions = descriptors.into_iter().flatten().enumerate().map(|(index, descriptor)| {
            let signature_def = signatures
                .filter(|signatures| index < signatures.len())
                .map(|signatures| signatures.get(index));
            Self::function(index, descriptor, signature(signature_def), bytecode_length)
        });
        functions.collect()
    }

    fn function(
        index: usize,
        descriptor: &FunctionDescriptor,
        signature: FunctionSignature,
        bytecode_length: usize,
    ) -> Result<Function, LoadError> {
        let error = |reason: String| malformed(format!("function {index}"), reason);
        let (offset, length) = (descriptor.bytecode_offset(), descriptor.bytecode_length());
        let bytecode = usize::try_from(offset)
            .ok()
            .zip(usize::try_from(length).ok())
            .filter(|(offset, length)| {
                *length > 0 && *offset <= bytecode_length && *length <= bytecode_length - *offset
            })
            .map(|(offset, length)| offset..offset + length)
            .ok_or_else(|| {
                error(format!(
                    "its bytecode (offset {offset}, length {length}) is empty or outside the \
                     {bytecode_length} bytes of bytecode"
                ))
            })?;
        let block_count = descriptor.block_count().cast_unsigned();
        if block_count == 0 {
            return Err(error("it has no block".to_owned()));
        }
        let i32_register_count = descriptor.i32_register_count().cast_unsigned();
        let ref_register_count = descriptor.ref_register_count().cast_unsigned();
        if i32_register_count > Register::MAX_I32 || ref_register_count > Register::MAX_REF {
            return Err(error(format!(
                "it asks for {i32_register_count} i32 and {ref_register_count} ref registers; \
                 the most are {} and {}",
                Register::MAX_I32,
                Register::MAX_REF
            )));
        }
        Ok(Function {
            bytecode,
            requirements: Features(descriptor.requirements().bits()),
            block_count,
            i32_register_count,
            ref_register_count,
            signature,
        })
    }

    fn rodata(&self, def: BytecodeModuleDef<'_>) -> Result<Vec<RodataSegment>, LoadError> {
        let segments =
            def.rodata_segments().into_iter().flatten().enumerate().map(|(index, def)| {
                if let Some(data) = def.embedded_data() {
                    return Ok(RodataSegment {
                        range: self.range_of(Some(data.bytes())),
                        is_external: false,
                    });
                }
                let (offset, length) = (def.external_data_offset(), def.external_data_length());
                let available = self.bytes.len().saturating_sub(self.rodata_base) as u64;
                if length == 0 {
                    let start = self.rodata_base.min(self.bytes.len());
                    return Ok(RodataSegment { range: start..start, is_external: true });
                }
                if offset > available || length > available - offset {
                    return Err(LoadError::Truncated {
                        offset: self.rodata_base,
                        needed: (self.rodata_base as u64)
                            .saturating_add(offset)
                            .saturating_add(length),
                        available: self.bytes.len() as u64,
                    });
                }
                let start = usize::try_from(offset)
                    .map(|offset| self.rodata_base + offset)
                    .map_err(|_| malformed(format!("rodata {index}"), "its offset is too large"))?;
                Ok(RodataSegment { range: start..start + length as usize, is_external: true })
            });
        segments.collect()
    }

    fn state(def: BytecodeModuleDef<'_>) -> Result<ModuleState, LoadError> {
        let Some(state) = def.module_state() else { return Ok(ModuleState::default()) };
        let size = |value: i32, what: &str| {
            u32::try_from(value)
                .map_err(|_| malformed("the module state", format!("it has {value} {what}")))
        };
        Ok(ModuleState {
            global_bytes: size(state.global_bytes_capacity(), "bytes of globals")?,
            global_refs: size(state.global_ref_count(), "ref globals")?,
        })
    }

    /// Where a part of the FlatBuffer is in the file.
    fn range_of(&self, part: Option<&[u8]>) -> Range<usize> {
        let Some(part) = part else { return self.flatbuffer.start..self.flatbuffer.start };
        let start = part.as_ptr() as usize - self.bytes.as_ptr() as usize;
        start..start + part.len()
    }
}
