//! From bytes to a [`Module`]: verifies the FlatBuffer, copies the tables out, checks them against
//! each other. Does not look into bytecode.
//!
//! The checks are those of IREE's loader (`vm/bytecode/module.c`), and a few that it lacks.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use flatbuffers::{InvalidFlatbuffer, Table};

use super::model::{
    Attribute, Dependency, Export, Features, Function, FunctionSignature, Import, Module,
    ModuleState, RodataSegment, TypeDef,
};
use super::version_peek::unsupported_version;
use crate::archive;
use crate::file::FileBytes;
use crate::load_error::LoadError;
use crate::ordinals::{FunctionOrdinal, Register};
use crate::schema::{
    AttrDef, BytecodeModuleDef, CompressionTypeDef, FunctionDescriptor, FunctionSignatureDef,
    ImportFlagBits, ModuleDependencyFlagBits, RodataSegmentDef,
    size_prefixed_root_as_bytecode_module_def_with_opts,
};
use crate::table_budget::{Budget, flatbuffer_verifier};
use crate::versions::BytecodeVersion;

/// How often functions may share bytecode. Compilers write each function's bytecode once; shared
/// bytecode is verified, decoded and printed once per function.
const MAXIMUM_SHARING: usize = 4;

/// The longest name of a function, type or module. Each instruction that mentions one prints it.
const LONGEST_NAME: usize = 4096;

impl Module {
    /// Loads the module in the file at `path`. Everything that is checked is read once, into
    /// memory; large constants stay in the file and are mapped.
    ///
    /// # Errors
    /// The file cannot be read or is not a module that this crate supports; see [`LoadError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Module, LoadError> {
        Self::from_bytes(archive::open(path.as_ref())?)
    }

    /// Loads a module from bytes in memory.
    ///
    /// # Errors
    /// The bytes are not a module that this crate reads; see [`LoadError`].
    pub fn from_bytes(bytes: impl Into<FileBytes>) -> Result<Module, LoadError> {
        let bytes = bytes.into();
        let layout = archive::layout(bytes.owned(), bytes.len())?;
        let flatbuffer = &bytes.owned()[layout.flatbuffer.clone()];
        if let Some(found) = unsupported_version(flatbuffer) {
            return Err(LoadError::Version { found });
        }
        let def = size_prefixed_root_as_bytecode_module_def_with_opts(
            &flatbuffer_verifier(flatbuffer.len()),
            flatbuffer,
        )
        .map_err(|error| damaged(&layout, &error))?;
        let mut reader = TableReader {
            flatbuffer,
            base: layout.flatbuffer.start,
            rodata_base: layout.rodata_base,
            file_length: bytes.len(),
            budget: Budget::of(flatbuffer.len()),
        };
        let mut module = reader.module(def)?;
        module.flatbuffer = layout.flatbuffer;
        module.bytes = bytes.clone();
        Ok(module)
    }
}

fn damaged(layout: &archive::Layout, error: &InvalidFlatbuffer) -> LoadError {
    let offset = layout.flatbuffer.start;
    match error {
        InvalidFlatbuffer::ApparentSizeTooLarge | InvalidFlatbuffer::TooManyTables => {
            LoadError::TooMuch {
                offset,
                what: "the contents of its FlatBuffer".to_owned(),
                allowed: Budget::allowed(layout.flatbuffer.len()),
            }
        }
        _ => LoadError::FlatBuffer { offset, reason: error.to_string() },
    }
}

struct TableReader<'a> {
    flatbuffer: &'a [u8],
    /// Where the FlatBuffer starts in the file.
    base: usize,
    rodata_base: usize,
    file_length: usize,
    budget: Budget,
}

/// A table's place, for errors.
#[derive(Clone, Copy)]
struct TablePlace<'p> {
    offset: usize,
    kind: &'p str,
    index: Option<usize>,
}

impl TablePlace<'_> {
    fn name(&self) -> String {
        match self.index {
            Some(index) => format!("{} {index}", self.kind),
            None => self.kind.to_owned(),
        }
    }

    fn malformed(&self, reason: impl Into<String>) -> LoadError {
        LoadError::Malformed { offset: self.offset, what: self.name(), reason: reason.into() }
    }
}

impl TableReader<'_> {
    fn place<'p>(
        &self,
        table: Table<'_>,
        kind: &'p str,
        index: impl Into<Option<usize>>,
    ) -> TablePlace<'p> {
        TablePlace { offset: self.base + table.loc(), kind, index: index.into() }
    }

    /// A copy of a text.
    fn text(&mut self, text: &str, place: TablePlace<'_>) -> Result<String, LoadError> {
        self.spend(text.len(), place)?;
        Ok(text.to_owned())
    }

    /// A copy of a name that must not be empty.
    fn name(&mut self, name: Option<&str>, place: TablePlace<'_>) -> Result<String, LoadError> {
        let name = name.filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| place.malformed("it has no name"))?;
        if name.len() > LONGEST_NAME {
            let length = name.len();
            return Err(place.malformed(format!(
                "its name has {length} bytes, and names have {LONGEST_NAME} at most"
            )));
        }
        self.text(name, place)
    }

    /// Counts bytes that are about to be copied.
    fn spend(&mut self, bytes: usize, place: TablePlace<'_>) -> Result<(), LoadError> {
        if self.budget.spend(bytes) {
            return Ok(());
        }
        Err(LoadError::TooMuch {
            offset: place.offset,
            what: place.name(),
            allowed: Budget::allowed(self.flatbuffer.len()),
        })
    }

    fn attributes<'a>(
        &mut self,
        defs: impl Iterator<Item = AttrDef<'a>>,
        place: TablePlace<'_>,
    ) -> Result<Vec<Attribute>, LoadError> {
        let attributes = defs.map(|def| {
            self.spend(size_of::<Attribute>(), place)?;
            Ok(Attribute {
                key: self.text(def.key().unwrap_or_default(), place)?,
                value: self.text(def.value().unwrap_or_default(), place)?,
            })
        });
        attributes.collect()
    }

    fn signature(
        &mut self,
        def: Option<FunctionSignatureDef<'_>>,
        place: TablePlace<'_>,
    ) -> Result<FunctionSignature, LoadError> {
        let Some(def) = def else { return Ok(FunctionSignature::default()) };
        let convention = def.calling_convention().map(|text| {
            // It will be parsed, into a value for each character.
            self.spend(text.len().saturating_mul(size_of::<abi::cconv::ValueType>()), place)?;
            Ok(text.to_owned())
        });
        Ok(FunctionSignature {
            calling_convention: convention.transpose()?,
            attributes: self.attributes(def.attrs().into_iter().flatten(), place)?,
        })
    }

    fn module(&mut self, def: BytecodeModuleDef<'_>) -> Result<Module, LoadError> {
        let place = self.place(def._tab, "the module", None);
        let name = self.name(Some(def.name()), place)?;
        let bytecode_version = BytecodeVersion::from_bits(def.bytecode_version());
        if !bytecode_version.is_supported() {
            return Err(LoadError::Version { found: bytecode_version });
        }
        let bytecode = self.range_of(def.bytecode_data().map(|data| data.bytes()));
        let functions = self.functions(def, bytecode.len())?;
        Ok(Module {
            bytes: FileBytes::from(Vec::new()),
            flatbuffer: 0..0,
            name,
            version: def.version(),
            bytecode_version,
            requirements: Features(def.requirements().bits()),
            attributes: self.attributes(def.attrs().into_iter().flatten(), place)?,
            types: self.types(def)?,
            dependencies: self.dependencies(def)?,
            imports: self.imports(def)?,
            exports: self.exports(def, &functions)?,
            functions,
            rodata: self.rodata(def)?,
            rwdata: self.rwdata(def)?,
            state: self.state(def)?,
            bytecode,
            debug_database: OnceLock::new(),
        })
    }

    fn types(&mut self, def: BytecodeModuleDef<'_>) -> Result<Vec<TypeDef>, LoadError> {
        let types = def.types().into_iter().flatten().enumerate().map(|(index, def)| {
            let place = self.place(def._tab, "type", index);
            self.spend(size_of::<TypeDef>(), place)?;
            Ok(TypeDef { full_name: self.name(def.full_name(), place)? })
        });
        types.collect()
    }

    fn dependencies(&mut self, def: BytecodeModuleDef<'_>) -> Result<Vec<Dependency>, LoadError> {
        let defs = def.dependencies().into_iter().flatten().enumerate();
        let dependencies = defs.map(|(index, def)| {
            let place = self.place(def._tab, "dependency", index);
            self.spend(size_of::<Dependency>(), place)?;
            Ok(Dependency {
                name: self.name(def.name(), place)?,
                minimum_version: def.minimum_version(),
                is_optional: def.flags().contains(ModuleDependencyFlagBits::OPTIONAL),
            })
        });
        dependencies.collect()
    }

    fn imports(&mut self, def: BytecodeModuleDef<'_>) -> Result<Vec<Import>, LoadError> {
        let defs = def.imported_functions().into_iter().flatten().enumerate();
        let imports = defs.map(|(index, def)| {
            let place = self.place(def._tab, "import", index);
            self.spend(size_of::<Import>(), place)?;
            Ok(Import {
                full_name: self.name(def.full_name(), place)?,
                signature: self.signature(def.signature(), place)?,
                is_optional: def.flags().contains(ImportFlagBits::OPTIONAL),
            })
        });
        imports.collect()
    }

    fn exports(
        &mut self,
        def: BytecodeModuleDef<'_>,
        functions: &[Function],
    ) -> Result<Vec<Export>, LoadError> {
        let defs = def.exported_functions().into_iter().flatten().enumerate();
        let exports = defs.map(|(index, def)| {
            let place = self.place(def._tab, "export", index);
            self.spend(size_of::<Export>(), place)?;
            let name = self.name(def.local_name(), place)?;
            let ordinal = usize::try_from(def.internal_ordinal()).ok();
            let ordinal =
                ordinal.filter(|ordinal| *ordinal < functions.len()).ok_or_else(|| {
                    place.malformed(format!(
                        "{name:?} is function {}, and the module has {}",
                        def.internal_ordinal(),
                        functions.len()
                    ))
                })?;
            Ok(Export { name, function: FunctionOrdinal::from_index(ordinal) })
        });
        exports.collect()
    }

    fn functions(
        &mut self,
        def: BytecodeModuleDef<'_>,
        bytecode_length: usize,
    ) -> Result<Vec<Function>, LoadError> {
        let tables = self.place(def._tab, "the module's function tables", None);
        let descriptors = def.function_descriptors();
        let descriptor_count = descriptors.map_or(0, |descriptors| descriptors.len());
        let signatures = def.function_signatures();
        let signature_count = signatures.map_or(0, |signatures| signatures.len());
        if signature_count != 0 && signature_count != descriptor_count {
            return Err(tables.malformed(format!(
                "{descriptor_count} descriptors but {signature_count} signatures"
            )));
        }
        let mut described = 0_usize;
        let defs = descriptors.into_iter().flatten().enumerate();
        let functions = defs.map(|(index, descriptor)| {
            let offset = descriptor.0.as_ptr() as usize - self.flatbuffer.as_ptr() as usize;
            let place =
                TablePlace { offset: self.base + offset, kind: "function", index: index.into() };
            let signature_def = signatures
                .filter(|signatures| index < signatures.len())
                .map(|signatures| signatures.get(index));
            self.spend(size_of::<Function>(), place)?;
            let signature = self.signature(signature_def, place)?;
            let function = function(descriptor, signature, bytecode_length, place)?;
            described = described.saturating_add(function.bytecode.len());
            if described / MAXIMUM_SHARING > bytecode_length {
                return Err(place.malformed(format!(
                    "it and the functions before it share bytecode: they have {described} bytes of \
                     a block of {bytecode_length}"
                )));
            }
            Ok(function)
        });
        functions.collect()
    }

    fn rodata(&mut self, def: BytecodeModuleDef<'_>) -> Result<Vec<RodataSegment>, LoadError> {
        let defs = def.rodata_segments().into_iter().flatten().enumerate();
        let segments = defs.map(|(index, def)| {
            let place = self.place(def._tab, "rodata", index);
            self.spend(size_of::<RodataSegment>(), place)?;
            let says_uncompressed =
                def.compression_type_type() == CompressionTypeDef::UncompressedDataDef;
            let (range, is_external) = match def.embedded_data() {
                Some(data) => (self.range_of(Some(data.bytes())), false),
                None => (self.external_rodata(def, place)?, true),
            };
            Ok(RodataSegment { range, is_external, says_uncompressed })
        });
        segments.collect()
    }

    fn rwdata(&mut self, def: BytecodeModuleDef<'_>) -> Result<Vec<i32>, LoadError> {
        let defs = def.rwdata_segments().into_iter().flatten().enumerate();
        let segments = defs.map(|(index, segment)| {
            self.spend(size_of::<i32>(), self.place(def._tab, "rwdata", index))?;
            Ok(segment.byte_size())
        });
        segments.collect()
    }

    fn external_rodata(
        &self,
        def: RodataSegmentDef<'_>,
        place: TablePlace<'_>,
    ) -> Result<Range<usize>, LoadError> {
        let (offset, length) = (def.external_data_offset(), def.external_data_length());
        let available = self.file_length.saturating_sub(self.rodata_base) as u64;
        if length == 0 {
            let start = self.rodata_base.min(self.file_length);
            return Ok(start..start);
        }
        if offset > available || length > available - offset {
            let needed = (self.rodata_base as u64).saturating_add(offset).saturating_add(length);
            return Err(LoadError::Truncated {
                offset: self.rodata_base,
                needed,
                available: self.file_length as u64,
            });
        }
        let start = usize::try_from(offset)
            .map(|offset| self.rodata_base + offset)
            .map_err(|_| place.malformed("its offset is too large"))?;
        Ok(start..start + length as usize)
    }

    fn state(&self, def: BytecodeModuleDef<'_>) -> Result<ModuleState, LoadError> {
        let Some(state) = def.module_state() else { return Ok(ModuleState::default()) };
        let place = self.place(state._tab, "the module state", None);
        let size = |value: i32, what: &str| {
            u32::try_from(value).map_err(|_| place.malformed(format!("it has {value} {what}")))
        };
        Ok(ModuleState {
            global_bytes: size(state.global_bytes_capacity(), "bytes of globals")?,
            global_refs: size(state.global_ref_count(), "ref globals")?,
        })
    }

    /// Where a part of the FlatBuffer is in the file.
    fn range_of(&self, part: Option<&[u8]>) -> Range<usize> {
        let Some(part) = part else { return self.base..self.base };
        let start = self.base + (part.as_ptr() as usize - self.flatbuffer.as_ptr() as usize);
        start..start + part.len()
    }
}

fn function(
    descriptor: &FunctionDescriptor,
    signature: FunctionSignature,
    bytecode_length: usize,
    place: TablePlace<'_>,
) -> Result<Function, LoadError> {
    let (offset, length) = (descriptor.bytecode_offset(), descriptor.bytecode_length());
    let bytecode = usize::try_from(offset)
        .ok()
        .zip(usize::try_from(length).ok())
        .filter(|(offset, length)| {
            *length > 0 && *offset <= bytecode_length && *length <= bytecode_length - *offset
        })
        .map(|(offset, length)| offset..offset + length)
        .ok_or_else(|| {
            place.malformed(format!(
                "its bytecode (offset {offset}, length {length}) is empty or outside the \
                 {bytecode_length} bytes of bytecode"
            ))
        })?;
    let block_count = descriptor.block_count().cast_unsigned();
    if block_count == 0 {
        return Err(place.malformed("it has no block"));
    }
    let i32_register_count = descriptor.i32_register_count().cast_unsigned();
    let ref_register_count = descriptor.ref_register_count().cast_unsigned();
    if i32_register_count > Register::MAX_I32 || ref_register_count > Register::MAX_REF {
        return Err(place.malformed(format!(
            "it asks for {i32_register_count} i32 and {ref_register_count} ref registers; the most \
             are {} and {}",
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
