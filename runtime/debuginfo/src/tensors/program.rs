//! Functions, operations and values of the program of tensors, as data.

use std::collections::HashMap;
use std::fmt;

use crate::mlir_text::{CallChain, LocationNames, NamedPosition};

/// The program of tensors.
#[derive(Debug, Default)]
pub struct TensorProgram {
    pub(super) functions: Vec<TensorFunction>,
    /// For each exported dispatch, its tensors: in the order of the operation's operands, then of
    /// its results that are not tied to an operand.
    pub(super) bodies: HashMap<String, Vec<BodyTensor>>,
    /// For each exported dispatch, how many arithmetic operations it does.
    pub(super) work: HashMap<String, u64>,
}

/// A tensor that a dispatch is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BodyTensor {
    /// Its index among the dispatch's arguments.
    pub(super) argument: usize,
    pub(super) tensor_type: String,
    pub(super) access: crate::dispatches::OperandAccess,
}

/// A function, or an initializer, which has no name.
#[derive(Debug, Default)]
pub struct TensorFunction {
    /// The symbol's name.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<TensorValueId>,
    /// Its operations, in the order of the text.
    pub operations: Vec<TensorOperation>,
    /// Its regions, the function's own body first.
    pub regions: Vec<TensorRegion>,
    pub(super) values: Vec<TensorValue>,
    pub(super) fates: HashMap<String, Vec<(CallChain, Fate)>>,
    /// By name, and in the same order, what the fates rest on.
    pub(super) told: HashMap<String, Vec<Told>>,
}

/// What is remembered of how a tensor of the source was found.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// Where the source defines it.
    pub(super) at: NamedPosition,
    /// The operation that is proven to leave it, and whether that depends on constants.
    pub(super) claim: Option<(TensorOperationId, bool)>,
    /// The operations at its place that leave what is not proven to be it.
    pub(super) refuted: Vec<TensorOperationId>,
}

impl Told {
    /// Whether it is proven only if compiled constants are those of the source.
    pub(super) fn assumes(&self) -> bool {
        self.claim.is_some_and(|(_, assumes)| assumes)
    }
}

/// A region of structured control flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorRegion {
    /// The operation that has this region; `None` for the body of the function.
    pub operation: Option<TensorOperationId>,
    /// The region around that operation.
    pub parent: Option<RegionId>,
    /// Whether it may run several times each time that it is reached.
    pub is_loop: bool,
    /// The values that its first block begins with.
    pub arguments: Vec<TensorValueId>,
}

/// A region, by its index in its function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionId(pub u32);

/// A value, by its index in its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorValueId(pub u32);

/// An operation of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorOperationId {
    /// The function's index.
    pub function: usize,
    /// Its index in the function.
    pub index: usize,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct TensorOperation {
    /// What it does.
    pub kind: TensorOperationKind,
    /// Its places in the source: each the position of an operation, then of the inlined calls
    /// around it.
    pub chains: Vec<CallChain>,
    /// The names in its location; of operations on the host, none are read.
    pub location_names: LocationNames,
    /// The values that it uses; of a dispatch, those it is given, without its workload.
    pub operands: Vec<TensorValueId>,
    /// The values that it defines.
    pub results: Vec<TensorValueId>,
    /// For each result, the operand in whose place the dispatch leaves it.
    pub tied: Vec<Option<TensorValueId>>,
    /// The region that it is in.
    pub region: RegionId,
}

impl TensorOperation {
    /// The export that it runs, if it is a dispatch.
    #[must_use]
    pub fn export(&self) -> Option<&str> {
        match &self.kind {
            TensorOperationKind::Dispatch { export } => Some(export),
            _ => None,
        }
    }
}

/// What an operation does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorOperationKind {
    /// Runs code of an executable.
    Dispatch {
        /// The exported name.
        export: String,
    },
    /// Makes a constant tensor.
    Constant {
        /// The scope and the key, if it is a parameter.
        parameter: Option<(String, String)>,
    },
    /// Loads a global.
    GlobalLoad {
        /// Its name.
        symbol: String,
    },
    /// Takes an argument of the function as a tensor.
    Import {
        /// The index of the argument.
        argument: usize,
    },
    /// Makes a result of the function.
    Export,
    /// The same bytes with another type.
    Alias,
    /// Fills a tensor with one value.
    Splat,
    /// Copies all or a part of a tensor.
    Copy,
    /// Calls a function.
    Call {
        /// Its name.
        callee: String,
    },
    /// Works on scalars, or controls what runs.
    Host {
        /// The name of the operation.
        name: String,
    },
    /// Any other operation on tensors.
    Other {
        /// The name of the operation.
        name: String,
    },
}

/// A value of the program.
#[derive(Clone, Debug, Default)]
pub struct TensorValue {
    /// Shape and element type of a tensor: `1x?xf32`. Other types are as in the text.
    pub tensor_type: String,
    /// Whether it is a tensor.
    pub is_tensor: bool,
    /// The operation that it is a result of.
    pub made_by: Option<TensorOperationId>,
    /// The tensors of the source that it is.
    pub names: Vec<SourceTensor>,
    /// The tensors of the source that it has inside.
    pub parts: Vec<TensorPart>,
    /// What it is to a tensor of the source, if it is none itself.
    pub derived: Option<DerivedName>,
}

/// A tensor of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTensor {
    /// Its name: `%hidden`.
    pub name: String,
    /// The position of the operation that defines it, or of the argument's name.
    pub at: NamedPosition,
    /// The calls that were inlined around it, innermost first.
    pub calls: CallChain,
    /// Its own shape and element type, in which it is to be shown.
    pub tensor_type: String,
}

impl SourceTensor {
    /// Its name, where it is asked for.
    #[must_use]
    pub fn asked(&self, function: usize) -> TensorName<'_> {
        TensorName {
            function,
            name: &self.name,
            calls: &self.calls,
            is_in_call: !self.calls.is_empty(),
            defined_at: Some((self.at.line, self.at.column)),
        }
    }
}

/// A tensor of the source that is a part of a value, as where the compiler pads a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorPart {
    /// The value.
    pub value: TensorValueId,
    /// For each axis of the value, how many elements come before the part.
    pub before: Vec<u64>,
    /// For each axis, how many elements come after it.
    pub after: Vec<u64>,
    /// The tensor.
    pub tensor: SourceTensor,
}

/// A value of the program that has no name, by a tensor of the source that has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedName {
    /// The tensor.
    pub tensor: SourceTensor,
    /// What the value is to it.
    pub relation: TensorRelation,
}

/// What a value is to a tensor of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorRelation {
    /// It has the tensor inside, with other elements around it.
    Padded,
    /// It has the tensor's elements in the order of the machine's tiles.
    Packed,
    /// It is computed on the way to the tensor, by an operation that is called so: `subf`.
    Step(String),
}

impl fmt::Display for DerivedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.tensor.name;
        match &self.relation {
            TensorRelation::Padded => write!(f, "{name}:padded"),
            TensorRelation::Packed => write!(f, "{name}:packed"),
            TensorRelation::Step(step) => write!(f, "{name}:{step}"),
        }
    }
}

/// The name of a tensor, where it is asked for.
#[derive(Clone, Copy, Debug)]
pub struct TensorName<'n> {
    /// The index of the function of the program.
    pub function: usize,
    /// The name with its `%`.
    pub name: &'n str,
    /// The inlined calls around it, innermost first, as in [`TensorOperation::chains`]: what a name
    /// means in a function that was inlined several times is only known with them.
    pub calls: &'n [NamedPosition],
    /// Whether any of them is a call: either list may have more of what is around the function.
    pub is_in_call: bool,
    /// The place that defines it, as in [`SourceTensor::at`]; `None` if any that is in scope may be
    /// meant.
    pub defined_at: Option<(u32, u32)>,
}

/// What became of a tensor of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A value of the program has its bytes.
    Value(TensorValueId),
    /// A value of the program has it inside.
    Part(TensorPart),
    /// It is computed inside of dispatches, of which these values are left.
    FusedInto(Vec<TensorValueId>),
    /// The source has its elements: numbers with commas between them, row by row; one number for
    /// all; or their bytes, in hexadecimal and quotes.
    Constant {
        /// The elements.
        elements: String,
        /// Shape and element type.
        tensor_type: String,
    },
    /// The compiler has computed it.
    ConstantFolded,
    /// It is not known.
    Unknown(Unrecognised),
}

/// Why it is not known which value of the program a tensor of the source is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unrecognised {
    /// A value has its elements in another order: in tiles, for the operation that reads them.
    Tiled,
    /// The source has several tensors of the name there.
    SeveralOfTheName,
    /// It may be what the dispatches of these lines leave, which are few.
    Perhaps(Vec<u32>),
    /// This many dispatches leave a tensor of its size that has no name.
    ManyOfItsSize(usize),
    /// All that dispatches leave has other names.
    AllNamed,
    /// No dispatch leaves what is known to be it, or may be.
    Nowhere,
}

impl fmt::Display for Unrecognised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tiled => f.write_str(
                "the compiler lays out its elements in tiles, for the operation that reads it",
            ),
            Self::SeveralOfTheName => f.write_str("several tensors have this name here"),
            Self::Perhaps(lines) => match lines.as_slice() {
                [line] => {
                    write!(f, "not recognised: perhaps what the dispatch of line {line} leaves")
                }
                lines => {
                    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
                    let lines = lines.join(", ");
                    write!(f, "not recognised: perhaps what a dispatch of lines {lines} leaves")
                }
            },
            Self::ManyOfItsSize(count) => write!(
                f,
                "not recognised: {count} dispatches leave tensors of its size without a name"
            ),
            Self::AllNamed => {
                f.write_str("not recognised: all that dispatches leave has other names")
            }
            Self::Nowhere => f.write_str("not recognised in what dispatches leave"),
        }
    }
}

impl TensorProgram {
    /// The functions, in the order of the text.
    #[must_use]
    pub fn functions(&self) -> &[TensorFunction] {
        &self.functions
    }

    /// A function by its name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<usize> {
        self.functions.iter().position(|it| it.name == name && !name.is_empty())
    }

    /// An operation.
    #[must_use]
    pub fn operation(&self, id: TensorOperationId) -> Option<&TensorOperation> {
        self.functions.get(id.function)?.operations.get(id.index)
    }

    /// All dispatches, in the order of the text.
    pub fn dispatches(&self) -> impl Iterator<Item = (TensorOperationId, &TensorOperation)> {
        let functions = self.functions.iter().enumerate();
        functions.flat_map(|(function, it)| {
            let operations = it.operations.iter().enumerate();
            operations
                .filter(|(_, it)| matches!(it.kind, TensorOperationKind::Dispatch { .. }))
                .map(move |(index, it)| (TensorOperationId { function, index }, it))
        })
    }

    /// What makes each value, by its function. Values stay what they are where operations are put
    /// into another order ([`Self::arrange`]), so this tells where an operation was before.
    #[must_use]
    pub fn makers(&self) -> HashMap<(usize, TensorValueId), TensorOperationId> {
        let functions = self.functions.iter().enumerate();
        let made = functions.flat_map(|(function, it)| {
            it.values().filter_map(move |(id, value)| Some(((function, id), value.made_by?)))
        });
        made.collect()
    }

    /// How many arithmetic operations an exported dispatch does, as far as its code says.
    #[must_use]
    pub fn operations_of(&self, export: &str) -> Option<u64> {
        self.work.get(export).copied()
    }

    /// What became of a tensor of the source. `None` if the source has no such name there.
    #[must_use]
    pub fn named(&self, name: &TensorName<'_>) -> Option<Fate> {
        let found = self.functions.get(name.function)?.fates.get(name.name)?;
        match self.which(name)? {
            Some(at) => found.get(at).map(|(_, fate)| fate.clone()),
            None => Some(Fate::Unknown(Unrecognised::SeveralOfTheName)),
        }
    }

    /// The same, with what it rests on.
    pub(super) fn told(&self, name: &TensorName<'_>) -> Option<(&Fate, &Told)> {
        let read = self.functions.get(name.function)?;
        let at = self.which(name)??;
        Some((&read.fates.get(name.name)?.get(at)?.1, read.told.get(name.name)?.get(at)?))
    }

    /// Which of the tensors with a name is meant: `Some(None)` if several may be. Several loops may
    /// have one of the name, and each has a place that defines it.
    fn which(&self, name: &TensorName<'_>) -> Option<Option<usize>> {
        let read = self.functions.get(name.function)?;
        let (found, told) = (read.fates.get(name.name)?, read.told.get(name.name)?);
        let is_meant = |at: &usize| {
            let own = told.get(*at).map(|it| (it.at.line, it.at.column));
            name.defined_at.is_none_or(|at| own == Some(at))
        };
        let meant: Vec<usize> = (0..found.len()).filter(is_meant).collect();
        let those: Vec<(CallChain, ())> =
            meant.iter().filter_map(|at| Some((found.get(*at)?.0.clone(), ()))).collect();
        let at = one_of(&those, name.calls, name.is_in_call)?;
        Some(at.and_then(|at| meant.get(at).copied()))
    }

    /// The names of tensors of the source, each with the calls that were inlined around it and
    /// what became of it.
    pub fn names_of(&self, function: usize) -> impl Iterator<Item = (&str, &CallChain, &Fate)> {
        let fates = self.functions.get(function).into_iter().flat_map(|it| &it.fates);
        fates.flat_map(|(name, found)| {
            found.iter().map(move |(calls, fate)| (name.as_str(), calls, fate))
        })
    }
}

/// Which of the tensors with one name is meant in these calls: `Some(None)` if several may be.
pub(super) fn one_of<T>(
    found: &[(CallChain, T)],
    calls: &[NamedPosition],
    is_in_call: bool,
) -> Option<Option<usize>> {
    // A name of the function itself means nothing in a call that was inlined into it.
    let is_reached = |own: &CallChain| !(is_in_call && own.is_empty());
    let begins =
        |own: &CallChain| is_reached(own) && (calls.starts_with(own) || own.starts_with(calls));
    let only = |is_it: &dyn Fn(&CallChain) -> bool| {
        let mut those = found.iter().enumerate().filter(|(_, (own, _))| is_it(own));
        let (at, _) = those.next()?;
        Some((at, those.next().is_some()))
    };
    if let Some((at, has_more)) = only(&|own| own.as_slice() == calls) {
        return (!has_more).then_some(Some(at));
    }
    let (at, has_more) = only(&begins)?;
    Some((!has_more).then_some(at))
}

impl TensorFunction {
    /// A value. One of another function is an empty one.
    #[must_use]
    pub fn value(&self, id: TensorValueId) -> &TensorValue {
        const NONE: &TensorValue = &TensorValue {
            tensor_type: String::new(),
            is_tensor: false,
            made_by: None,
            names: Vec::new(),
            parts: Vec::new(),
            derived: None,
        };
        self.values.get(id.0 as usize).unwrap_or(NONE)
    }

    /// All values, by their index.
    pub fn values(&self) -> impl Iterator<Item = (TensorValueId, &TensorValue)> {
        (0_u32..).map(TensorValueId).zip(&self.values)
    }

    /// A region.
    #[must_use]
    pub fn region(&self, id: RegionId) -> Option<&TensorRegion> {
        self.regions.get(id.0 as usize)
    }
}
