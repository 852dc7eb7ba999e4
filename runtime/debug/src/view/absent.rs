//! Why a name has no value: one reason for all that looks at values, so that no text is judged.
//!
//! Adapters show the text in the place of the value, and tell programs [`Absent::kind`].

use std::fmt;

use debuginfo::{MissingReason, Unrecognised};
use hal::PastLost;

use crate::tensor::ViewError;

/// Why a name that is in scope has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// The compiler has left nothing to compute it from.
    OptimizedOut,
    /// What makes it comes later.
    NotYetComputed,
    /// The dispatch that writes it runs: some of it may be there, and the rest is what was in its
    /// memory before.
    BeingComputed,
    /// A register seems to hold it, and its operands give another value.
    Disputed,
    /// The code is shared by several operations, and its registers are known for another one of
    /// them.
    Shared,
    /// The command runs later than it was submitted, and the function that had submitted it has
    /// gone on.
    Late,
    /// The call that the frame waits for has taken the reference to it, which the frame no longer
    /// needs.
    GivenToCall,
    /// It is a tensor of a module that has no program of tensors.
    TensorOfDispatches,
    /// No dispatch leaves it: tensors are made from it at once. The names of those that have one.
    FusedInto {
        /// The names in the source; empty if none of them has one.
        names: Vec<String>,
    },
    /// It is not there, and it is not computed again.
    NotRecomputed {
        /// Why it is not there.
        absent: Box<Self>,
        /// Why it is not computed again.
        why: String,
    },
    /// It was overwritten, and what it was before is not known.
    PastLost {
        /// What has overwritten it.
        absent: Box<Self>,
        /// Why what it was is not known.
        why: PastLost,
    },
    /// A command has written where it was.
    OverwrittenBy {
        /// The number of the command.
        command: u64,
        /// What the command is: the name of what it leaves, its export, or its kind.
        name: String,
    },
    /// The program has written where it was, with no command.
    OverwrittenByProgram,
    /// Its memory was released.
    Released,
    /// Which of the tensors that dispatches leave it is, if any, is not known.
    NotRecognised(Unrecognised),
    /// Its elements lie in an order of the machine's own.
    Encoded,
    /// A constant whose elements the source keeps elsewhere, or in a form that is not read.
    ConstantNotRead,
    /// The compiler has computed it from constants, and keeps it at a place that is not known.
    ComputedByCompiler,
    /// A `tensor.empty`.
    WithoutElements,
    /// Its dispatch has run, and where in that dispatch's memory it is is not known.
    PlaceNotKnown,
    /// It is no result of a dispatch, and none has read it so far.
    NotRead,
    /// Each turn of a loop, or each call of a function, has another one.
    Several,
    /// The command that made it is no longer remembered.
    TooLongAgo,
    /// It is not in the memory of its dispatch.
    OutsideMemory {
        /// The binding, if one is known.
        binding: Option<usize>,
    },
    /// It is inside of a tensor that has not the shape that it should.
    OtherShape,
    /// Its element type is not known, or is none that has a size.
    WithoutType,
    /// Two operands of the dispatch have the name, and are two tensors.
    SameName {
        /// Their numbers.
        operands: [usize; 2],
    },
    /// An operand of the dispatch has the name, and so has another value of the function around.
    NameOfAnother {
        /// The number of the operand.
        operand: usize,
    },
    /// The line has the name, and so has an operand of the dispatch.
    NotProvenSame {
        /// The number of the operand.
        operand: usize,
    },
    /// Its memory cannot be read as its type.
    Unreadable {
        /// What is wrong.
        why: ViewError,
    },
    /// The framework that has made the program says why it has no such tensor.
    OfFramework {
        /// Its reason.
        why: String,
    },
    /// It was printed, and is too large to be kept.
    TooLargeToKeep,
    /// It was printed, and larger ones have been since.
    NoLongerKept,
}

impl Absent {
    /// The kind of reason, for programs. A kind never changes its meaning; new ones may come.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::OptimizedOut => "optimizedOut",
            Self::NotYetComputed => "notYetComputed",
            Self::BeingComputed => "beingComputed",
            Self::Disputed => "disputed",
            Self::Shared => "shared",
            Self::Late => "late",
            Self::GivenToCall => "givenToCall",
            Self::TensorOfDispatches => "tensorOfDispatches",
            Self::FusedInto { .. } => "fusedInto",
            Self::NotRecomputed { absent, .. } | Self::PastLost { absent, .. } => absent.kind(),
            Self::OverwrittenBy { .. } | Self::OverwrittenByProgram => "overwritten",
            Self::Released => "released",
            Self::NotRecognised(Unrecognised::Tiled) | Self::Encoded => "encoded",
            Self::NotRecognised(Unrecognised::SeveralOfTheName)
            | Self::SameName { .. }
            | Self::NameOfAnother { .. }
            | Self::NotProvenSame { .. } => "ambiguous",
            Self::NotRecognised(_) => "notRecognised",
            Self::ConstantNotRead => "constantNotRead",
            Self::ComputedByCompiler => "computedByCompiler",
            Self::WithoutElements => "withoutElements",
            Self::PlaceNotKnown => "placeNotKnown",
            Self::NotRead => "notRead",
            Self::Several => "several",
            Self::TooLongAgo => "tooLongAgo",
            Self::OutsideMemory { .. } => "outsideMemory",
            Self::OtherShape | Self::WithoutType | Self::Unreadable { .. } => "unreadable",
            Self::OfFramework { .. } => "ofFramework",
            Self::TooLargeToKeep | Self::NoLongerKept => "notKept",
        }
    }

    /// Whether a tensor may be computed again that has no value for this reason. What comes later
    /// is not.
    pub(crate) fn may_be_recomputed(&self) -> bool {
        matches!(
            self,
            Self::FusedInto { .. }
                | Self::OverwrittenBy { .. }
                | Self::OverwrittenByProgram
                | Self::PastLost { .. }
                | Self::Released
                | Self::NotRecognised(_)
                | Self::Encoded
                | Self::ComputedByCompiler
                | Self::PlaceNotKnown
                | Self::NotRead
                | Self::TooLongAgo
                | Self::OutsideMemory { .. }
        )
    }

    /// Whether something else has taken its memory.
    pub(crate) fn is_overwritten(&self) -> bool {
        matches!(self, Self::OverwrittenBy { .. } | Self::OverwrittenByProgram)
    }

    /// The same with the reason why what it was before is not known either. Where nothing is
    /// recorded, there is nothing to say.
    pub(crate) fn and_past_lost(self, why: PastLost) -> Self {
        match why {
            PastLost::NotKept => self,
            why => Self::PastLost { absent: Box::new(self), why },
        }
    }

    /// The reason as part of a sentence. As [`fmt::Display`] writes it, in brackets, it stands in
    /// the place of a value.
    #[must_use]
    pub fn words(&self) -> String {
        let text = match self {
            Self::OptimizedOut => MissingReason::OptimizedOut.words(),
            Self::NotYetComputed => MissingReason::NotYetComputed.words(),
            Self::BeingComputed => "being computed",
            Self::Disputed => "not certain: its operands give another value than the register",
            Self::Shared => MissingReason::Shared.words(),
            Self::Late => MissingReason::Late.words(),
            Self::GivenToCall => "given to the call that runs",
            Self::TensorOfDispatches => MissingReason::Tensor.words(),
            Self::FusedInto { names } if names.is_empty() => "fused into other operations",
            Self::FusedInto { names } => return format!("fused into {}", names.join(" and ")),
            Self::NotRecomputed { absent, why } => {
                return format!("{}; not computed again: {why}", absent.words());
            }
            Self::PastLost { absent, why } => {
                return format!("{}; what it was: {why}", absent.words());
            }
            Self::OverwrittenBy { command, name } => {
                return format!("overwritten by command {command} ({name})");
            }
            Self::OverwrittenByProgram => "its memory was written by the program",
            Self::Released => "its memory was released",
            Self::NotRecognised(why) => return why.to_string(),
            Self::Encoded => "encoded: its elements lie in an order of the machine's own",
            Self::ConstantNotRead => "a constant: its elements are not read from the source",
            Self::ComputedByCompiler => "made of constants alone: where it is kept is not known",
            Self::WithoutElements => "tensor.empty: it has no elements yet",
            Self::PlaceNotKnown => "computed; where in its dispatch's memory is not known",
            Self::NotRead => "read by no dispatch so far",
            Self::Several => {
                "a tensor of a loop, or of a function that is called several times: stop at a \
                 dispatch to see it"
            }
            Self::TooLongAgo => "computed too long ago",
            Self::OutsideMemory { binding: Some(binding) } => {
                return format!("not in the memory of binding[{binding}]");
            }
            Self::OutsideMemory { binding: None } => "not in the memory of the dispatch",
            Self::OtherShape => "inside of a tensor of another shape",
            Self::WithoutType => "a tensor without a type",
            Self::SameName { operands: [one, other] } => {
                return format!("operand[{one}] and operand[{other}] have this name");
            }
            Self::NameOfAnother { operand } => {
                return format!("operand[{operand}] has this name elsewhere in the source");
            }
            Self::NotProvenSame { operand } => {
                return format!(
                    "this line has the name, and so has operand[{operand}]: they are not proven \
                     to be one tensor"
                );
            }
            Self::Unreadable { why } => return why.to_string(),
            Self::OfFramework { why } => return why.clone(),
            Self::TooLargeToKeep => "too large to be kept; `save` it",
            Self::NoLongerKept => "no longer kept: larger ones were printed since",
        };
        text.to_owned()
    }
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.words())
    }
}

impl From<MissingReason> for Absent {
    fn from(reason: MissingReason) -> Self {
        match reason {
            MissingReason::OptimizedOut => Self::OptimizedOut,
            MissingReason::NotYetComputed => Self::NotYetComputed,
            MissingReason::Tensor => Self::TensorOfDispatches,
            MissingReason::Shared => Self::Shared,
            MissingReason::Late => Self::Late,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_in_the_place_of_a_value_is_in_brackets() {
        let names = vec!["%a".to_owned(), "%b".to_owned()];
        let fused = Absent::FusedInto { names };
        assert_eq!(fused.to_string(), "<fused into %a and %b>");
        assert_eq!(fused.words(), "fused into %a and %b");
        let written = Absent::OverwrittenBy { command: 3, name: "@fill".to_owned() };
        assert_eq!(written.to_string(), "<overwritten by command 3 (@fill)>");
        let perhaps = Absent::NotRecognised(Unrecognised::Perhaps(vec![2, 7]));
        let text = "<not recognised: perhaps what a dispatch of lines 2, 7 leaves>";
        assert_eq!((perhaps.to_string().as_str(), perhaps.kind()), (text, "notRecognised"));
        assert_eq!(Absent::NotRecognised(Unrecognised::Tiled).kind(), "encoded");
    }

    #[test]
    fn all_kinds_are_documented_and_no_others() {
        let code = include_str!("absent.rs");
        let (_, code) = code.split_once("pub fn kind").expect("the function");
        let (code, _) = code.split_once("pub fn words").expect("the next one");
        let mut kinds: Vec<&str> = code.split('"').skip(1).step_by(2).collect();
        let readme = include_str!("../../../../dap-adapter/README.md");
        let (_, table) = readme.split_once("| `ireeAbsent` |").expect("the table");
        let rows = table.lines().skip(2).map_while(|row| row.strip_prefix("| `"));
        let mut documented: Vec<&str> =
            rows.filter_map(|row| row.split_once('`')).map(|(kind, _)| kind).collect();
        kinds.sort_unstable();
        documented.sort_unstable();
        assert_eq!(kinds, documented);
    }
}
