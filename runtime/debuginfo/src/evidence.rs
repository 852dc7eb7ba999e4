//! Why a name has its value: [`Evidence`], as data.
//!
//! It is made only when it is asked for. Each maker of names fills it in beside the code that
//! decides: `proof/account` for registers and recipes, `tensors/account` for tensors; the debugger
//! adds the values at the stop, and makes what it decides itself (operands of dispatches, globals).
//! The debugger's commands print it, and it is serialised as it is here.

use serde::Serialize;

/// Why a name has its value, or has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The name, as the source spells it.
    pub name: String,
    /// The framework's name of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framework: Option<String>,
    /// Who says what the name means.
    pub maker: Maker,
    /// Where the value is: a register, how to compute it, a dispatch; `None` if it is unknown.
    pub place: Option<String>,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// How well that is known.
    pub grounds: Grounds,
    /// The second opinion on what a register holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<SecondOpinion>,
    /// What was matched: the operation of the source that makes the value first, then what it is
    /// made from, each once.
    pub operations: Vec<Matched>,
    /// What else the value might have been in, and what refuted that.
    pub refuted: Vec<Refuted>,
    /// Anything else that decided, as sentences.
    pub notes: Vec<String>,
}

/// Who says what a name means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Maker {
    /// The comparison of source and bytecode: a register holds it.
    #[default]
    Registers,
    /// The same comparison: it can be computed from registers.
    Recipes,
    /// The comparison of the source's tensors with what dispatches leave.
    Tensors,
    /// The dispatch that a frame belongs to: one of its operands has the name.
    Operands,
    /// The module's globals.
    Globals,
    /// The VM program's own text, where no source is known.
    Listing,
}

impl Maker {
    /// Who that is, as a person reads it.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Registers => "the comparison of source and bytecode",
            Self::Recipes => "the comparison of source and bytecode, which found how to compute it",
            Self::Tensors => "the comparison of the source's tensors with what dispatches leave",
            Self::Operands => "the dispatch of this frame, by its operands",
            Self::Globals => "the globals of the module",
            Self::Listing => "the VM program that iree-compile has printed",
        }
    }
}

/// How well it is known what a name means.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Grounds {
    /// Both sides are the same computation, term by term.
    Term,
    /// A constant, which the source writes.
    Constant,
    /// Both sides have the same values for samples of what they are computed from, and nothing
    /// speaks against it.
    #[serde(rename_all = "camelCase")]
    Samples {
        /// How many samples agree.
        agreeing: usize,
        /// How many there are. In the others, the result depends on how it is compiled.
        of: usize,
        /// How many of the source's values are different numbers.
        distinct: usize,
        /// Whether an instruction of the value's own operation makes what the register holds.
        is_from_its_operation: bool,
        /// The names that no sample tells from it. The instruction comes from none of them.
        alike: Vec<String>,
    },
    /// It is computed from registers.
    #[serde(rename_all = "camelCase")]
    Read {
        /// Whether each of these is proven to hold what it is read for.
        is_proven: bool,
    },
    /// The same computation, if constants that the compiler has computed are those that the source
    /// has there.
    ExceptConstants,
    /// What a table of the module says.
    Declared,
    /// Nothing is known of it.
    #[default]
    Unknown,
}

impl Grounds {
    /// Whether both sides are proven to be the same for every input.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        matches!(self, Self::Term | Self::Constant | Self::Read { is_proven: true })
    }

    /// A sentence's end: "it is …".
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Term => "proven: both sides are the same computation, term by term".to_owned(),
            Self::Constant => "proven: it is a constant".to_owned(),
            Self::Samples { agreeing, of, distinct, is_from_its_operation, alike } => {
                let alike = match alike.as_slice() {
                    [] => ", and no other name has them".to_owned(),
                    names => format!(", which {} has, too", names.join(" and ")),
                };
                let also = match is_from_its_operation {
                    true => "; an instruction of its own operation makes it",
                    false => "",
                };
                format!(
                    "not proven, but supported: {agreeing} of {of} samples agree, with {distinct} \
                     different values{alike}{also}"
                )
            }
            Self::Read { is_proven: true } => {
                "proven: it is computed from what is proven (registers, constants, arguments)"
                    .to_owned()
            }
            Self::Read { is_proven: false } => {
                "not proven, but supported: it is computed from a register that only samples \
                 support"
                    .to_owned()
            }
            Self::ExceptConstants => {
                "proven, if constants that the compiler has computed are those of the source"
                    .to_owned()
            }
            Self::Declared => {
                "declared: the compiler says it, and nothing had to be compared".to_owned()
            }
            Self::Unknown => "not known".to_owned(),
        }
    }

    /// The same in two or three words, for a line that says more.
    #[must_use]
    pub fn short(&self) -> &'static str {
        match self {
            Self::Term | Self::Read { is_proven: true } => "proven by structure",
            Self::Constant => "a constant",
            Self::Samples { .. } | Self::Read { is_proven: false } => "supported by samples",
            Self::ExceptConstants => "proven but for constants",
            Self::Declared => "declared",
            Self::Unknown => "not known",
        }
    }
}

/// What the operands of a value give, beside what its register holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecondOpinion {
    /// How it is computed, in the names of MLIR.
    pub recipe: String,
    /// Whether it is believed where the two differ. Otherwise neither is.
    pub is_believed: bool,
    /// What the register holds at the stop.
    pub held: Option<String>,
    /// What the recipe gives at the stop; `None` if something that it reads is not known.
    pub given: Option<String>,
}

/// An operation of the source, and what of the compiled program it was matched with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Matched {
    /// The operation as the source writes it, without types: `%y = arith.mulf %a, %b`.
    pub source: String,
    /// The line of the source.
    pub line: Option<u32>,
    /// The instruction, or the command, that computes it.
    pub compiled: Option<String>,
    /// What makes them a pair.
    pub by: MatchedBy,
    /// Where its value is now, or how it is computed.
    pub found: Option<String>,
    /// What it is made from, by the index in [`Evidence::operations`].
    pub operands: Vec<usize>,
    /// Whether it is made from more, which is left out.
    pub is_cut: bool,
}

/// What makes an operation of the source and one of the compiled program a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MatchedBy {
    /// The same operation on operands that are pairs.
    Term,
    /// The same values for all samples.
    Samples,
    /// The argument of the same number.
    Argument,
    /// The only code with its location.
    Location,
    /// A constant of the same value.
    Constant,
    /// Two loops carry it; it begins and goes on with pairs.
    Loop,
    /// Nothing was matched.
    #[default]
    Nothing,
}

impl MatchedBy {
    /// A word for it.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Term => "term",
            Self::Samples => "samples",
            Self::Argument => "argument",
            Self::Location => "location",
            Self::Constant => "constant",
            Self::Loop => "loop",
            Self::Nothing => "unmatched",
        }
    }
}

/// What a value might have been in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refuted {
    /// A register, or a dispatch.
    pub place: String,
    /// The names of the source that it is proven to hold instead.
    pub holds: Vec<String>,
    /// What refuted it, as a sentence's end.
    pub refuted_by: String,
}
