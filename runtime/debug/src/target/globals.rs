//! The globals of a module, found in its instructions.
//!
//! A module declares how many bytes and references of globals it has, and not what they are. The
//! loads and stores in its functions say that: each has an offset and a type. The companion has the
//! same operations with symbols, which are the names in the source.
//!
//! The compiler adds globals of its own, which begin with two underscores: devices, executables,
//! results of queries. They come last, except parameters, which users look for. A parameter is a
//! tensor of the shape that its name ends with.

use std::collections::BTreeMap;

use abi::tensor::TensorType;
use debuginfo::{DebugInfo, plain_symbol};
use vm::Ref;
use vmfb::decode::Operand;
use vmfb::isa::{Bank, FieldKind};
use vmfb::{Module, instructions};

use crate::tensor::TensorView;

/// The prefix of globals that hold parameters; scope, key and type follow.
const PARAMETER: &str = "__parameter_";

/// The globals of a module, by place.
#[derive(Debug, Default)]
pub(crate) struct Globals {
    /// Numbers, by offset in bytes.
    pub(crate) primitives: BTreeMap<u32, Primitive>,
    /// References with names, by ordinal.
    pub(crate) refs: BTreeMap<u32, Named>,
}

#[derive(Clone, Debug)]
pub(crate) struct Primitive {
    /// The type that instructions use.
    pub(crate) bank: Bank,
    pub(crate) named: Option<Named>,
}

/// The companion's description of a global.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    /// The symbol without `@` and quotes.
    symbol: String,
    pub(crate) mlir_type: Option<String>,
}

/// The place of a global.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GlobalPlace {
    /// A number at an offset in bytes.
    Bytes(usize),
    /// A reference by its ordinal.
    Ref(usize),
}

impl Globals {
    /// Scans all functions of a module.
    pub(crate) fn find(module: &Module, info: &DebugInfo) -> Self {
        let mut globals = Self::default();
        for (ordinal, _) in module.functions_with_ordinals() {
            let code = instructions(module.function_bytecode(ordinal)).map_while(Result::ok);
            for instruction in code {
                let named = info.global_used_at(ordinal, instruction.offset);
                let named = named.map(|symbol| Named::of(symbol, info));
                let is_ref = instruction.op.mnemonic().ends_with(".ref");
                let mut offset = None;
                for (field, operand) in instruction.fields() {
                    match (field.kind, operand) {
                        (FieldKind::Global, Operand::Global(at)) => offset = Some(*at),
                        (FieldKind::Read(bank) | FieldKind::Write(bank), _) if is_number(bank) => {
                            if let Some(at) = offset {
                                globals.add(at, bank, named.clone());
                            }
                        }
                        _ => {}
                    }
                }
                if let (Some(at), Some(named), true) = (offset, named, is_ref) {
                    globals.refs.insert(at, named);
                }
            }
        }
        globals
    }

    fn add(&mut self, at: u32, bank: Bank, named: Option<Named>) {
        let known = self.primitives.get(&at).and_then(|known| known.named.clone());
        self.primitives.insert(at, Primitive { bank, named: named.or(known) });
    }

    /// The type of the number at an offset, as instructions use it.
    pub(crate) fn bank_at(&self, at: usize) -> Option<Bank> {
        Some(self.primitives.get(&u32::try_from(at).ok()?)?.bank)
    }

    /// The place of the global with a symbol.
    pub(crate) fn named(&self, symbol: &str) -> Option<GlobalPlace> {
        let mut primitives = self.primitives.iter();
        let is_it = |named: &Option<Named>| named.as_ref().is_some_and(|it| it.symbol == symbol);
        let number = primitives.find(|(_, it)| is_it(&it.named));
        let number = number.map(|(at, _)| GlobalPlace::Bytes(*at as usize));
        let reference = || self.refs.iter().find(|(_, it)| it.symbol == symbol);
        number.or_else(|| reference().map(|(index, _)| GlobalPlace::Ref(*index as usize)))
    }

    /// The reference to a parameter, by the name that it has in [`debuginfo::plain_symbol`]; none
    /// if several may be meant, which the compiler numbers.
    pub(crate) fn parameter(&self, name: &str) -> Option<usize> {
        let begin = self.refs.iter().filter_map(|(index, it)| {
            let rest = plain_symbol(&it.symbol).strip_prefix(name)?.to_owned();
            (rest.is_empty() || rest.starts_with('_')).then_some((*index, rest))
        });
        let mut begin = begin;
        let (index, rest) = begin.next()?;
        (rest.is_empty() && begin.next().is_none()).then_some(index as usize)
    }

    /// The tensor in a reference, if its name has a shape.
    pub(crate) fn tensor(&self, index: usize, value: &Ref) -> Option<TensorView> {
        self.refs.get(&u32::try_from(index).ok()?)?.tensor(value)
    }
}

impl Named {
    fn of(symbol: &str, info: &DebugInfo) -> Self {
        let declared = info.globals().iter().find(|global| global.name == symbol);
        let mlir_type = declared.map(|global| global.mlir_type.clone());
        Self { symbol: symbol.to_owned(), mlir_type }
    }

    /// The symbol as MLIR writes it.
    pub(crate) fn printed(&self) -> String {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "_$.-".contains(it);
        let begins = self.symbol.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
        if begins && self.symbol.chars().all(is_plain) && !self.symbol.contains('-') {
            format!("@{}", self.symbol)
        } else {
            format!("@\"{}\"", self.symbol.replace('\\', "\\\\").replace('"', "\\\""))
        }
    }

    pub(crate) fn rank(&self) -> u8 {
        let is_own = self.symbol.starts_with("__") && !self.symbol.starts_with(PARAMETER);
        if is_own { 2 } else { 0 }
    }

    /// The tensor of a parameter; the name ends with its type:
    /// `__parameter_model_w_tensor_16x16xf32`.
    pub(crate) fn tensor(&self, value: &Ref) -> Option<TensorView> {
        let rest = self.symbol.strip_prefix(PARAMETER)?;
        let (_, shape) = rest.rsplit_once("_tensor_")?;
        let tensor_type = TensorType::parse(shape).ok()?;
        let buffer: &hal::Buffer = value.downcast()?;
        let bytes = tensor_type.byte_length(buffer.len()).ok()?;
        if bytes != buffer.len() {
            return None;
        }
        TensorView::new(buffer.storage(), tensor_type).ok()
    }
}

fn is_number(bank: Bank) -> bool {
    matches!(bank, Bank::I32 | Bank::I64 | Bank::F32 | Bank::F64)
}
