//! The model of a module: every table of the FlatBuffer, copied out, checked, typed.
//!
//! Tables are copied with their strings; bytecode and rodata are ranges. The file's FlatBuffer is
//! in memory, and so is the rest of a small file. The constants of a large file are mapped, so a
//! module with a gigabyte of them costs no more memory than its tables. [`Module::open`] is the
//! entry point; `loading.rs` reads and checks; [`crate::verify`] judges the bytecode itself.
//!
//! Source of the rules: IREE's `schemas/bytecode_module_def.fbs` and `vm/bytecode/module.c`.

use std::borrow::Cow;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::OnceLock;

use abi::cconv::{Signature, ValueType};

use crate::debug_database::DebugDatabase;
use crate::file::FileBytes;
use crate::ordinals::{
    ExportOrdinal, FunctionOrdinal, ImportOrdinal, Register, RodataOrdinal, TypeOrdinal,
};
use crate::schema::size_prefixed_root_as_bytecode_module_def_unchecked;
use crate::table_budget::flatbuffer_verifier;
use crate::versions::BytecodeVersion;

/// Features that bytecode needs from the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Features(pub u32);

impl Features {
    /// The f32 instructions.
    pub const EXT_F32: Features = Features(1);
    /// The f64 instructions.
    pub const EXT_F64: Features = Features(2);
    /// Calls that may yield.
    pub const YIELD: Features = Features(4);
    /// Cleanup on unwinding.
    pub const UNWIND: Features = Features(8);

    const NAMES: [(Features, &str); 4] = [
        (Self::EXT_F32, "EXT_F32"),
        (Self::EXT_F64, "EXT_F64"),
        (Self::YIELD, "YIELD"),
        (Self::UNWIND, "UNWIND"),
    ];

    /// Whether all of `other` are among these.
    #[must_use]
    pub fn contains(self, other: Features) -> bool {
        self.0 & other.0 == other.0
    }

    /// The names of the bits that are set, lowest first; unknown bits are left out.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().filter(move |(bit, _)| self.contains(*bit)).map(|(_, name)| *name)
    }

    /// Bits that have no name.
    #[must_use]
    pub fn unknown(self) -> u32 {
        self.0 & !0xF
    }
}

impl std::ops::BitOr for Features {
    type Output = Features;

    fn bitor(self, other: Features) -> Features {
        Features(self.0 | other.0)
    }
}

/// A key and value that the compiler attached: ABI metadata, reflection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// For example `iree.abi.declaration`.
    pub key: String,
    /// Free text.
    pub value: String,
}

/// What a type table entry names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeDef {
    /// `i32`, `!vm.list<i32>`, `!hal.buffer_view`, … as the module spells it.
    pub full_name: String,
}

/// How a function is called, if the module says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionSignature {
    /// The VM calling convention, such as `0rii_r`; required for exports, optional for others.
    pub calling_convention: Option<String>,
    /// ABI metadata.
    pub attributes: Vec<Attribute>,
}

impl FunctionSignature {
    /// The keys and values of the ABI metadata.
    #[must_use]
    pub fn pairs(&self) -> Vec<(&str, &str)> {
        self.attributes.iter().map(|it| (it.key.as_str(), it.value.as_str())).collect()
    }
}

/// Another module that this one needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependency {
    /// The other module's name, such as `hal`.
    pub name: String,
    /// The lowest version of it that will do.
    pub minimum_version: u32,
    /// Whether this module loads without it.
    pub is_optional: bool,
}

/// A function that another module has to provide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Import {
    /// `module.function`.
    pub full_name: String,
    /// The signature that the provider must have.
    pub signature: FunctionSignature,
    /// Whether the module loads without it.
    pub is_optional: bool,
}

impl Import {
    /// The provider's name and the function's; the first dot divides them.
    #[must_use]
    pub fn split_name(&self) -> (&str, &str) {
        self.full_name.split_once('.').unwrap_or(("", &self.full_name))
    }
}

/// A function that other modules and hosts may call by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// Its name, free text.
    pub name: String,
    /// The function that it names.
    pub function: FunctionOrdinal,
}

/// A function of the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Where its bytecode is, in the module's bytecode block.
    pub bytecode: Range<usize>,
    /// The features that its bytecode needs.
    pub requirements: Features,
    /// The number of its block markers.
    pub block_count: u16,
    /// The number of 32-bit registers in its frame.
    pub i32_register_count: u16,
    /// The number of ref registers in its frame.
    pub ref_register_count: u16,
    /// How it is called.
    pub signature: FunctionSignature,
}

impl Function {
    /// The 32-bit and ref registers of a frame of this function: the declared ones, with room for
    /// the arguments if fewer are declared. iree-as-module writes such functions if an argument is
    /// never used.
    #[must_use]
    pub fn frame_size(&self) -> (u16, u16) {
        let text = self.signature.calling_convention.as_deref().unwrap_or_default();
        let signature = Signature::parse(text).unwrap_or_default();
        let (i32_count, ref_count) = argument_registers(&signature);
        let at_most = |count: usize, limit| u16::try_from(count).unwrap_or(limit).min(limit);
        (
            self.i32_register_count.max(at_most(i32_count, Register::MAX_I32)),
            self.ref_register_count.max(at_most(ref_count, Register::MAX_REF)),
        )
    }
}

/// The 32-bit and ref registers that arguments take.
pub(crate) fn argument_registers(signature: &Signature) -> (usize, usize) {
    let (mut i32_count, mut ref_count) = (0_usize, 0_usize);
    for argument in &signature.arguments {
        match argument {
            ValueType::Ref => ref_count += 1,
            ValueType::I64 | ValueType::F64 => i32_count = i32_count.next_multiple_of(2) + 2,
            _ => i32_count += 1,
        }
    }
    (i32_count, ref_count)
}

/// Where a rodata segment's bytes are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RodataSegment {
    /// Byte range in the file.
    pub range: Range<usize>,
    /// Whether it is outside the FlatBuffer.
    pub is_external: bool,
    /// Whether the module says that it is not compressed. None is, whether said or not.
    pub says_uncompressed: bool,
}

/// What a module keeps in each context that loads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ModuleState {
    /// Bytes of primitive globals.
    pub global_bytes: u32,
    /// Ref globals.
    pub global_refs: u32,
}

/// A loaded module. Its tables are consistent with each other; its bytecode is not yet verified.
#[derive(Debug)]
pub struct Module {
    pub(crate) bytes: FileBytes,
    pub(crate) flatbuffer: Range<usize>,
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) bytecode_version: BytecodeVersion,
    pub(crate) requirements: Features,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) types: Vec<TypeDef>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) imports: Vec<Import>,
    pub(crate) exports: Vec<Export>,
    pub(crate) functions: Vec<Function>,
    pub(crate) rodata: Vec<RodataSegment>,
    pub(crate) rwdata: Vec<i32>,
    pub(crate) state: ModuleState,
    pub(crate) bytecode: Range<usize>,
    pub(crate) debug_database: OnceLock<Option<DebugDatabase>>,
}

impl Module {
    /// The namespace that its functions are found in.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The module's own version, which dependents may ask a minimum of.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The version of its bytecode.
    #[must_use]
    pub fn bytecode_version(&self) -> BytecodeVersion {
        self.bytecode_version
    }

    /// Features that some of its functions need.
    #[must_use]
    pub fn requirements(&self) -> Features {
        self.requirements
    }

    /// Metadata of the module as a whole.
    #[must_use]
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The type table.
    #[must_use]
    pub fn types(&self) -> &[TypeDef] {
        &self.types
    }

    /// A type table entry.
    #[must_use]
    pub(crate) fn type_def(&self, ordinal: TypeOrdinal) -> Option<&TypeDef> {
        self.types.get(ordinal.index())
    }

    /// The modules that it needs.
    #[must_use]
    pub fn dependencies(&self) -> &[Dependency] {
        &self.dependencies
    }

    /// The functions that it needs.
    #[must_use]
    pub fn imports(&self) -> &[Import] {
        &self.imports
    }

    /// An import.
    #[must_use]
    pub fn import(&self, ordinal: ImportOrdinal) -> Option<&Import> {
        self.imports.get(ordinal.index())
    }

    /// The functions that it offers.
    #[must_use]
    pub fn exports(&self) -> &[Export] {
        &self.exports
    }

    /// The export with this name; the first if there are several.
    #[must_use]
    pub fn export_named(&self, name: &str) -> Option<(ExportOrdinal, &Export)> {
        let index = self.exports.iter().position(|export| export.name == name)?;
        Some((ExportOrdinal::from_index(index), &self.exports[index]))
    }

    /// All functions, exported or not.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// A function.
    #[must_use]
    pub fn function(&self, ordinal: FunctionOrdinal) -> Option<&Function> {
        self.functions.get(ordinal.index())
    }

    /// Every function with its ordinal.
    pub fn functions_with_ordinals(&self) -> impl Iterator<Item = (FunctionOrdinal, &Function)> {
        self.functions
            .iter()
            .enumerate()
            .map(|(index, function)| (FunctionOrdinal::from_index(index), function))
    }

    /// The names under which a function is exported.
    pub fn export_names(&self, ordinal: FunctionOrdinal) -> impl Iterator<Item = &str> {
        self.exports
            .iter()
            .filter(move |export| export.function == ordinal)
            .map(|export| export.name.as_str())
    }

    /// The bytecode of a function; empty if there is no such function.
    #[must_use]
    pub fn function_bytecode(&self, ordinal: FunctionOrdinal) -> &[u8] {
        self.function(ordinal)
            .and_then(|function| self.bytecode_data().get(function.bytecode.clone()))
            .unwrap_or(&[])
    }

    /// The bytecode of all functions, in one block.
    #[must_use]
    pub fn bytecode_data(&self) -> &[u8] {
        &self.bytes.owned()[self.bytecode.clone()]
    }

    /// The constants and executables that the module carries.
    #[must_use]
    pub fn rodata(&self) -> &[RodataSegment] {
        &self.rodata
    }

    /// The bytes of each segment of uninitialised memory. No instruction refers to one.
    #[must_use]
    pub fn rwdata(&self) -> &[i32] {
        &self.rwdata
    }

    /// The bytes of a rodata segment, copied if they are not in memory; `None` if there is no such
    /// segment, or the file no longer has it.
    #[must_use]
    pub fn rodata_bytes(&self, ordinal: RodataOrdinal) -> Option<Cow<'_, [u8]>> {
        self.bytes.get(self.rodata.get(ordinal.index())?.range.clone())
    }

    /// The bytes of a rodata segment within the FlatBuffer; `None` if it is outside.
    #[must_use]
    pub(crate) fn embedded_rodata(&self, ordinal: RodataOrdinal) -> Option<&[u8]> {
        let segment = self.rodata.get(ordinal.index()).filter(|segment| !segment.is_external)?;
        self.bytes.owned().get(segment.range.clone())
    }

    /// The length of a rodata segment in bytes.
    #[must_use]
    pub(crate) fn rodata_length(&self, ordinal: RodataOrdinal) -> Option<usize> {
        self.rodata.get(ordinal.index()).map(|segment| segment.range.len())
    }

    /// The xxh3 digest of a rodata segment, read piece by piece; `None` as for
    /// [`Self::rodata_bytes`].
    #[must_use]
    pub(crate) fn rodata_digest(&self, ordinal: RodataOrdinal) -> Option<u64> {
        let mut digest = twox_hash::XxHash3_64::new();
        let range = self.rodata.get(ordinal.index())?.range.clone();
        self.bytes.for_each_chunk(range, |chunk| digest.write(chunk))?;
        Some(digest.finish())
    }

    /// The file's bytes, which rodata ranges refer to. They can be shared to keep a part of them.
    #[must_use]
    pub fn file_bytes(&self) -> &FileBytes {
        &self.bytes
    }

    /// What the module keeps for each context.
    #[must_use]
    pub fn state(&self) -> ModuleState {
        self.state
    }

    /// The debug database, read on first use. A database whose tables are damaged is treated as
    /// absent: a module must run without it.
    #[must_use]
    pub fn debug_database(&self) -> Option<&DebugDatabase> {
        self.debug_database.get_or_init(|| self.read_debug_database()).as_ref()
    }

    /// Where in the file the offsets of external rodata count from.
    #[must_use]
    pub(crate) fn external_rodata_base(&self) -> usize {
        self.flatbuffer.end.next_multiple_of(64)
    }

    /// Bytes of the FlatBuffer, its size prefix included.
    #[must_use]
    pub fn flatbuffer_bytes(&self) -> &[u8] {
        &self.bytes.owned()[self.flatbuffer.clone()]
    }

    /// Reads the debug database out of the FlatBuffer.
    fn read_debug_database(&self) -> Option<DebugDatabase> {
        let buffer = self.flatbuffer_bytes();
        // SAFETY: `from_bytes` verified this very buffer as a size-prefixed module before the
        // module existed. The buffer is our own memory (`FileBytes::owned`), which nothing writes.
        let def = unsafe { size_prefixed_root_as_bytecode_module_def_unchecked(buffer) };
        DebugDatabase::read(buffer, &flatbuffer_verifier(buffer.len()), def.debug_database()?)
    }
}
