//! A module in memory, and the bytes of its file.

use std::borrow::Cow;

use flatbuffers::{FlatBufferBuilder, ForwardsUOffset, Vector, WIPOffset};

use super::build_error::{BuildError, signed};
use super::{alignment, debug_database};
use crate::debug_database::DebugDatabase;
use crate::module::{
    Attribute, Dependency, Export, Features, Function, FunctionSignature, Import, Module,
    ModuleState, RodataSegment, TypeDef,
};
use crate::ordinals::RodataOrdinal;
use crate::schema::{
    AttrDef, AttrDefArgs, BytecodeModuleDef, BytecodeModuleDefArgs, CompressionTypeDef,
    ExportFunctionDef, ExportFunctionDefArgs, FeatureBits, FunctionDescriptor,
    FunctionSignatureDef, FunctionSignatureDefArgs, ImportFlagBits, ImportFunctionDef,
    ImportFunctionDefArgs, ModuleDependencyDef, ModuleDependencyDefArgs, ModuleDependencyFlagBits,
    ModuleStateDef, ModuleStateDefArgs, RodataSegmentDef, RodataSegmentDefArgs, RwdataSegmentDef,
    RwdataSegmentDefArgs, TypeDef as TypeDefTable, TypeDefArgs, UncompressedDataDef,
    UncompressedDataDefArgs,
};
use crate::versions::BytecodeVersion;

/// Where external rodata is aligned, in the file.
const EXTERNAL_ALIGNMENT: usize = 64;
/// Where embedded rodata is aligned, in the file: no element type needs more.
const EMBEDDED_ALIGNMENT: usize = 16;
/// FlatBuffers stay under 2 GiB; the rest of the limit is for tables.
const MAXIMUM_FLATBUFFER: usize = 0x7F00_0000;

/// The bytes of a rodata segment and where they go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RodataImage<'b> {
    /// What bytecode sees.
    pub bytes: Cow<'b, [u8]>,
    /// Whether they follow the FlatBuffer in the file instead of being in it.
    pub is_external: bool,
    /// Whether the module says that they are not compressed, which goes without saying.
    pub says_uncompressed: bool,
}

impl<'b> RodataImage<'b> {
    /// A segment placed as the compiler does: from 4096 bytes on outside the FlatBuffer, where
    /// segments are aligned to 64 and do not count against its size.
    #[must_use]
    pub fn new(bytes: impl Into<Cow<'b, [u8]>>) -> Self {
        let bytes = bytes.into();
        let is_external = bytes.len() >= 4096;
        Self { bytes, is_external, says_uncompressed: false }
    }
}

/// A module that is not in a file yet: the tables of a [`Module`], and the bytes that they refer
/// to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleImage<'b> {
    /// The namespace that its functions are found in.
    pub name: String,
    /// The module's own version.
    pub version: u32,
    /// The version of its bytecode.
    pub bytecode_version: BytecodeVersion,
    /// Features that some of its functions need.
    pub requirements: Features,
    /// Metadata of the module as a whole.
    pub attributes: Vec<Attribute>,
    /// The type table.
    pub types: Vec<TypeDef>,
    /// The modules that it needs.
    pub dependencies: Vec<Dependency>,
    /// The functions that it needs.
    pub imports: Vec<Import>,
    /// The functions that it offers.
    pub exports: Vec<Export>,
    /// All functions; their ranges are within `bytecode`.
    pub functions: Vec<Function>,
    /// The bytecode of all functions.
    pub bytecode: Cow<'b, [u8]>,
    /// Constants and executables.
    pub rodata: Vec<RodataImage<'b>>,
    /// The sizes of segments of uninitialised memory, which no instruction refers to.
    pub rwdata: Vec<i32>,
    /// What the module keeps for each context.
    pub state: ModuleState,
    /// Where its instructions came from.
    pub debug_database: Option<DebugDatabase>,
}

impl<'b> ModuleImage<'b> {
    /// The tables and bytes of a loaded module.
    #[must_use]
    pub fn from_module(module: &'b Module) -> Self {
        let rodata = module.rodata().iter().enumerate().map(|(index, segment)| {
            let bytes = module.rodata_bytes(RodataOrdinal::from_index(index)).unwrap_or_default();
            let RodataSegment { is_external, says_uncompressed, .. } = *segment;
            RodataImage { bytes, is_external, says_uncompressed }
        });
        Self {
            name: module.name().to_owned(),
            version: module.version(),
            bytecode_version: module.bytecode_version(),
            requirements: module.requirements(),
            attributes: module.attributes().to_vec(),
            types: module.types().to_vec(),
            dependencies: module.dependencies().to_vec(),
            imports: module.imports().to_vec(),
            exports: module.exports().to_vec(),
            functions: module.functions().to_vec(),
            bytecode: Cow::Borrowed(module.bytecode_data()),
            rodata: rodata.collect(),
            rwdata: module.rwdata().to_vec(),
            state: module.state(),
            debug_database: module.debug_database().cloned(),
        }
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// Something is larger than the format allows.
    pub fn to_bytes(&self) -> Result<Vec<u8>, BuildError> {
        let embedded = self.rodata.iter().filter(|segment| !segment.is_external);
        let size = embedded.map(|segment| segment.bytes.len()).sum::<usize>() + self.bytecode.len();
        if size > MAXIMUM_FLATBUFFER {
            return Err(BuildError::TooLarge { size });
        }
        let mut builder = Builder(FlatBufferBuilder::with_capacity(size + 4096));
        let root = builder.module(self)?;
        builder.0.finish_size_prefixed(root, Some("IREE"));
        let mut bytes = builder.0.finished_data().to_vec();
        drop(builder);
        self.append_external(&mut bytes);
        Ok(bytes)
    }

    fn append_external(&self, bytes: &mut Vec<u8>) {
        for segment in self.rodata.iter().filter(|segment| segment.is_external) {
            bytes.resize(bytes.len().next_multiple_of(EXTERNAL_ALIGNMENT), 0);
            bytes.extend_from_slice(&segment.bytes);
        }
    }
}

type TableVector<'f, T> = Option<WIPOffset<Vector<'f, ForwardsUOffset<T>>>>;

struct Builder<'f>(FlatBufferBuilder<'f>);

impl<'f> Builder<'f> {
    fn module(
        &mut self,
        image: &ModuleImage<'_>,
    ) -> Result<WIPOffset<BytecodeModuleDef<'f>>, BuildError> {
        let bytecode_data = Some(self.0.create_vector(&image.bytecode));
        let rodata_segments = self.rodata(&image.rodata);
        let debug_database = match &image.debug_database {
            Some(database) => Some(debug_database::write(&mut self.0, database)?),
            None => None,
        };
        let function_descriptors = Some(self.descriptors(&image.functions)?);
        let function_signatures =
            self.tables(&image.functions, |this, function| this.signature(&function.signature));
        let exported_functions = self.exports(&image.exports)?;
        let imported_functions = self.tables(&image.imports, Self::import);
        let dependencies = self.tables(&image.dependencies, Self::dependency);
        let types = self.tables(&image.types, |this, def| {
            let full_name = Some(this.0.create_string(&def.full_name));
            TypeDefTable::create(&mut this.0, &TypeDefArgs { full_name })
        });
        let attrs = self.attributes(&image.attributes);
        let module_state = self.state(image.state)?;
        let rwdata_segments = self.tables(&image.rwdata, |this, byte_size| {
            RwdataSegmentDef::create(&mut this.0, &RwdataSegmentDefArgs { byte_size: *byte_size })
        });
        let name = Some(self.0.create_string(&image.name));
        Ok(BytecodeModuleDef::create(
            &mut self.0,
            &BytecodeModuleDefArgs {
                name,
                version: image.version,
                requirements: features(image.requirements),
                attrs,
                types,
                dependencies,
                imported_functions,
                exported_functions,
                function_signatures,
                rodata_segments,
                rwdata_segments,
                module_state,
                function_descriptors,
                bytecode_version: image.bytecode_version.to_bits(),
                bytecode_data,
                debug_database,
            },
        ))
    }

    /// A vector of tables; nothing for none, as the compiler leaves empty vectors out.
    fn tables<I, T>(
        &mut self,
        items: &[I],
        mut write: impl FnMut(&mut Self, &I) -> WIPOffset<T>,
    ) -> TableVector<'f, T> {
        if items.is_empty() {
            return None;
        }
        let offsets: Vec<_> = items.iter().map(|item| write(self, item)).collect();
        Some(self.0.create_vector(&offsets))
    }

    fn attributes(&mut self, attributes: &[Attribute]) -> TableVector<'f, AttrDef<'f>> {
        self.tables(attributes, |this, attribute| {
            let key = Some(this.0.create_string(&attribute.key));
            let value = Some(this.0.create_string(&attribute.value));
            AttrDef::create(&mut this.0, &AttrDefArgs { key, value })
        })
    }

    fn signature(&mut self, signature: &FunctionSignature) -> WIPOffset<FunctionSignatureDef<'f>> {
        let attrs = self.attributes(&signature.attributes);
        let text = signature.calling_convention.as_deref();
        let calling_convention = text.map(|text| self.0.create_string(text));
        let args = FunctionSignatureDefArgs { calling_convention, attrs };
        FunctionSignatureDef::create(&mut self.0, &args)
    }

    fn import(&mut self, import: &Import) -> WIPOffset<ImportFunctionDef<'f>> {
        let signature = Some(self.signature(&import.signature));
        let full_name = Some(self.0.create_string(&import.full_name));
        let flags =
            if import.is_optional { ImportFlagBits::OPTIONAL } else { ImportFlagBits::REQUIRED };
        let args = ImportFunctionDefArgs { full_name, signature, flags };
        ImportFunctionDef::create(&mut self.0, &args)
    }

    fn dependency(&mut self, dependency: &Dependency) -> WIPOffset<ModuleDependencyDef<'f>> {
        let name = Some(self.0.create_string(&dependency.name));
        let flags = if dependency.is_optional {
            ModuleDependencyFlagBits::OPTIONAL
        } else {
            ModuleDependencyFlagBits::REQUIRED
        };
        let args =
            ModuleDependencyDefArgs { name, minimum_version: dependency.minimum_version, flags };
        ModuleDependencyDef::create(&mut self.0, &args)
    }

    fn exports(
        &mut self,
        exports: &[Export],
    ) -> Result<TableVector<'f, ExportFunctionDef<'f>>, BuildError> {
        let ordinals: Vec<i32> = exports
            .iter()
            .map(|export| signed("function ordinal", export.function.index()))
            .collect::<Result<_, _>>()?;
        let mut ordinals = ordinals.into_iter();
        Ok(self.tables(exports, |this, export| {
            let local_name = Some(this.0.create_string(&export.name));
            let internal_ordinal = ordinals.next().unwrap_or_default();
            let args = ExportFunctionDefArgs { local_name, internal_ordinal };
            ExportFunctionDef::create(&mut this.0, &args)
        }))
    }

    fn descriptors(
        &mut self,
        functions: &[Function],
    ) -> Result<WIPOffset<Vector<'f, FunctionDescriptor>>, BuildError> {
        let descriptors: Vec<FunctionDescriptor> = functions
            .iter()
            .map(|function| {
                Ok(FunctionDescriptor::new(
                    signed("bytecode offset", function.bytecode.start)?,
                    signed("bytecode length", function.bytecode.len())?,
                    features(function.requirements),
                    0,
                    function.block_count.cast_signed(),
                    function.i32_register_count.cast_signed(),
                    function.ref_register_count.cast_signed(),
                ))
            })
            .collect::<Result<_, BuildError>>()?;
        Ok(self.0.create_vector(&descriptors))
    }

    /// Data first, then the tables that refer to it. Offsets of external data count from the first
    /// multiple of 64 after the FlatBuffer, where the first external segment is.
    fn rodata(&mut self, segments: &[RodataImage<'_>]) -> TableVector<'f, RodataSegmentDef<'f>> {
        let mut placed = Vec::with_capacity(segments.len());
        let mut end = 0;
        for segment in segments {
            let (external_data_offset, embedded_data) = if segment.is_external {
                let start = usize::next_multiple_of(end, EXTERNAL_ALIGNMENT);
                end = start + segment.bytes.len();
                (start as u64, None)
            } else {
                let bytes = &segment.bytes;
                let data = alignment::aligned_bytes(&mut self.0, bytes, EMBEDDED_ALIGNMENT);
                (0, Some(data))
            };
            let external_data_length =
                if segment.is_external { segment.bytes.len() as u64 } else { 0 };
            let compression = segment.says_uncompressed.then(|| {
                let none = UncompressedDataDefArgs::default();
                UncompressedDataDef::create(&mut self.0, &none).as_union_value()
            });
            placed.push(RodataSegmentDefArgs {
                compression_type_type: if segment.says_uncompressed {
                    CompressionTypeDef::UncompressedDataDef
                } else {
                    CompressionTypeDef::NONE
                },
                compression_type: compression,
                embedded_data,
                external_data_offset,
                external_data_length,
            });
        }
        self.tables(&placed, |this, args| RodataSegmentDef::create(&mut this.0, args))
    }

    fn state(
        &mut self,
        state: ModuleState,
    ) -> Result<Option<WIPOffset<ModuleStateDef<'f>>>, BuildError> {
        if state == ModuleState::default() {
            return Ok(None);
        }
        let args = ModuleStateDefArgs {
            global_bytes_capacity: signed("size of globals", state.global_bytes as usize)?,
            global_ref_count: signed("count of ref globals", state.global_refs as usize)?,
        };
        Ok(Some(ModuleStateDef::create(&mut self.0, &args)))
    }
}

fn features(features: Features) -> FeatureBits {
    FeatureBits::from_bits_retain(features.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &[u8] = include_bytes!("../../../cli/example/newton.vmfb");

    fn example() -> Module {
        Module::from_bytes(EXAMPLE.to_vec()).unwrap()
    }

    #[test]
    fn what_was_loaded_is_written_and_loaded_again() {
        let module = example();
        let image = ModuleImage::from_module(&module);
        assert!(image.debug_database.is_some(), "the example has a debug database");
        let again = Module::from_bytes(image.to_bytes().unwrap()).unwrap();
        assert_eq!(ModuleImage::from_module(&again), image);
    }

    #[test]
    fn rodata_is_aligned_inside_and_outside_the_flatbuffer() {
        let module = example();
        for lengths in [[0, 1, 15, 16, 17], [5000, 3, 4097, 0, 64]] {
            let mut image = ModuleImage::from_module(&module);
            image.rodata =
                lengths.iter().map(|length| RodataImage::new(vec![7; *length])).collect();
            image.bytecode.to_mut().push(0);
            let again = Module::from_bytes(image.to_bytes().unwrap()).unwrap();
            assert_eq!(ModuleImage::from_module(&again), image);
            for segment in again.rodata().iter().filter(|segment| !segment.range.is_empty()) {
                let alignment =
                    if segment.is_external { EXTERNAL_ALIGNMENT } else { EMBEDDED_ALIGNMENT };
                assert_eq!(segment.range.start % alignment, 0, "{segment:?} of {lengths:?}");
            }
        }
    }

    #[test]
    fn numbers_beyond_the_fields_are_refused() {
        let module = example();
        let mut image = ModuleImage::from_module(&module);
        image.state.global_bytes = u32::MAX;
        assert_eq!(
            image.to_bytes().unwrap_err().to_string(),
            "size of globals 4294967295 does not fit its field in the module"
        );
    }
}
