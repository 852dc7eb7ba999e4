//! Why a name has the value that it is shown with: asked for by `info name`, and never made
//! otherwise.
//!
//! The makers of names are asked in the order in which an expression asks them
//! ([`super::frame_scope`]): the names of the line, the operands of the dispatch, globals. Here the
//! values at the stop are added to what they say.

use debuginfo::{
    Evidence, Fate, Grounds, Maker, MissingReason, PythonValue, ScopedValue, ValueLocation,
};
use vm::Position;

use super::operand_names::NamedOperand;
use super::variables::plain_of_python;
use crate::expression::Datum;
use crate::machine::Machine;
use crate::target::globals::GlobalPlace;
use crate::target::meaning::Meaning;
use crate::target::module::LoadedModule;
use crate::view::absent::Absent;
use crate::view::frame::FrameId;
use crate::view::register;

/// Where a framework's name comes from.
const FRAMEWORK: &str = "the framework's name is from the locations of the text, or from the ONNX \
                         model beside it, compared node by node";

/// Where a number is that the code of a dispatch does not have.
const OUTSIDE: &str = "the function that has submitted the dispatch has it, where it stands";

/// Why nothing is said of a name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoEvidence {
    /// The operation at which the program stands gives it its value.
    #[error("%{name} has no value yet: the operation of this line defines it, and has not ended")]
    NotYetDefined {
        /// The name, without its sigil.
        name: String,
    },
    /// It is a tensor that is not there.
    #[error("%{name} has no value here: {reason}")]
    Absent {
        /// The name, without its sigil.
        name: String,
        /// Why it is not there.
        reason: Absent,
    },
    /// No value in scope has the name.
    #[error("nothing is called {name:?} here; `info locals` lists the names")]
    Unknown {
        /// The name, without its sigil.
        name: String,
    },
    /// The frame has no module with globals.
    #[error("this frame is native code")]
    NativeFrame,
    /// No global of the module has the name.
    #[error("no global is called @{symbol} here")]
    NoGlobal {
        /// The name, without its sigil.
        symbol: String,
    },
}

impl Machine {
    /// Why a name has its value in a frame: `%x` of the source, the framework's name of a tensor,
    /// or a global as `@name`. The `%` may be left out.
    ///
    /// # Errors
    /// Nothing has the name there; the text says what has one like it.
    pub fn evidence(&self, frame: FrameId, name: &str) -> Result<Evidence, NoEvidence> {
        let name = name.trim();
        if let Some(symbol) = name.strip_prefix('@') {
            return self.evidence_of_global(frame, &unquoted(symbol));
        }
        let bare = unquoted(name.strip_prefix('%').unwrap_or(name));
        if let Some((own, value)) = self.python_variable(self.level, frame, &bare) {
            return Ok(self.evidence_of_python(own, &bare, value));
        }
        let meaning = self.meaning(self.level, frame, &bare);
        let operand = self.operand_named(frame, &bare);
        let mut told = match (&meaning, &operand) {
            (Some(Meaning::Scoped(value)), _) => self.evidence_of_value(frame, value),
            (Some(Meaning::Local(local)), _) => Evidence {
                name: format!("%{bare}"),
                maker: Maker::Listing,
                place: Some(register::name(local.register)),
                grounds: Grounds::Declared,
                ..Evidence::default()
            },
            (None, Some(operand)) => self.evidence_of_operand(frame, operand),
            (None, None) => return Err(self.unknown_name(frame, &bare)),
        };
        if let (Some(Meaning::Scoped(value)), Some(operand)) = (&meaning, &operand) {
            self.add_operand(&mut told, frame, value, operand);
        }
        Ok(told)
    }

    /// A variable of Python: what is known of the value of the program that it is.
    fn evidence_of_python(&self, frame: FrameId, name: &str, value: &PythonValue) -> Evidence {
        let noted = "what it is was noted while the framework ran the Python to make the program";
        let own = match value {
            PythonValue::Value(value) => {
                let meaning = self.meaning(self.level, frame, value.trim_start_matches('%'));
                match meaning {
                    Some(Meaning::Scoped(value)) => Some(self.evidence_of_value(frame, &value)),
                    _ => None,
                }
            }
            _ => None,
        };
        let mut told = own.unwrap_or_else(|| Evidence {
            name: name.to_owned(),
            missing: Some(plain_of_python(value).variable(name).value),
            ..Evidence::default()
        });
        told.framework = Some(name.to_owned());
        told.notes.retain(|it| it != FRAMEWORK);
        told.notes.push(noted.to_owned());
        told
    }

    fn unknown_name(&self, frame: FrameId, name: &str) -> NoEvidence {
        let next = self.defined_next(self.level, frame);
        if ScopedValue::named(&next, name).is_some() {
            return NoEvidence::NotYetDefined { name: name.to_owned() };
        }
        let (name, reason) = (name.to_owned(), self.why_no_tensor(frame, name));
        match reason {
            Some(reason) => NoEvidence::Absent { name, reason },
            None => NoEvidence::Unknown { name },
        }
    }

    /// A name of the source, in scope in a frame.
    fn evidence_of_value(&self, frame: FrameId, value: &ScopedValue) -> Evidence {
        let is_tensor = matches!(value.location, ValueLocation::Missing(MissingReason::Tensor));
        let found = if is_tensor {
            self.evidence_of_tensor(frame, value)
        } else {
            self.evidence_of_number(frame, value)
        };
        let mut told = found.unwrap_or_else(|| without_proof(value));
        if is_tensor && told.maker != Maker::Tensors {
            told.maker = Maker::Tensors;
            told.notes.push(self.why_no_evidence(frame, value).to_owned());
        }
        told.framework = value.node.as_ref().map(|it| it.tensor.clone());
        if value.node.is_some() {
            told.notes.push(FRAMEWORK.to_owned());
        }
        self.add_values(&mut told, frame, value);
        told
    }

    /// Why nothing is known of a tensor.
    fn why_no_evidence(&self, frame: FrameId, value: &ScopedValue) -> &'static str {
        if self.stand(frame).is_none() {
            return "the module's program of tensors is not known here: `iree-dbg compile` keeps it \
                    in the debug file";
        }
        if value.argument.is_some() && self.is_inlined(frame) {
            return "an argument of a call that was inlined is known by the caller's name of what it \
                    is given (`up`)";
        }
        "the program of tensors has nothing of this name here"
    }

    /// The values at the stop: what a register holds and what its operands give, or why a value is
    /// missing that was not when the code was compared.
    fn add_values(&self, told: &mut Evidence, frame: FrameId, value: &ScopedValue) {
        if let Some(opinion) = &mut told.check {
            let (held, given) = self.opinions(frame, value);
            (opinion.held, opinion.given) = (held, given);
        }
        if let Err(reason) = self.scoped_value(frame, value) {
            told.missing.get_or_insert_with(|| reason.words());
        }
    }

    /// Where the source of a frame stands in the bytecode, and what names it has.
    fn evidence_of_number(&self, frame: FrameId, value: &ScopedValue) -> Option<Evidence> {
        if let Some((around, value)) = self.outside(frame, value) {
            let mut told = self.evidence_of_number(around, &value)?;
            told.notes.push(OUTSIDE.to_owned());
            return Some(told);
        }
        let (position, path) = match self.position_in(frame.index) {
            Some(position) if self.own_path(self.level, frame.index, position).is_some() => {
                return None;
            }
            Some(position) => {
                let module = self.program.module(position.function.module)?;
                let function = position.function.function;
                let mut path = module.info.path_at(function, position.offset);
                if path.is_empty() {
                    path.extend(module.whole_dispatch(function));
                }
                (position, path)
            }
            None => {
                let recorded_at = self.command(frame.index)?.recorded_at?;
                let submits = self.position_in(self.holder(frame.index))?;
                let is_here = submits.function == recorded_at.function;
                let is_here = is_here && !self.runs_late(frame.index);
                let path = self.program.path_at(self.level, recorded_at);
                (is_here.then_some(submits)?, path)
            }
        };
        let Position { function, offset } = position;
        let module = self.program.module(function.module)?;
        let calls = frame.calls.unwrap_or(path.len().saturating_sub(1));
        let given = self.given(self.holder(frame.index));
        module.info.evidence_along(
            &module.module,
            (function.function, offset),
            &path,
            (calls, given),
            &value.name,
        )
    }

    /// A tensor of the source, by its name with `%`.
    fn evidence_of_tensor(&self, frame: FrameId, value: &ScopedValue) -> Option<Evidence> {
        let stand = self.stand(frame)?;
        let module = self.tensor_module(frame)?;
        let asked = self.asked(&stand, frame, &value.name, Some(value));
        let file = |name: &str| module.source_of(name);
        let mut told = stand.tensors.program.evidence(&asked, &file)?;
        if let Some(Fate::Value(value)) = self.fate(&stand, frame, value)
            && let Some(node) = stand.tensors.node(stand.function, value)
        {
            told.framework = Some(node.trim_start_matches('%').trim_matches('"').to_owned());
        }
        Some(told)
    }

    /// The module whose program of tensors a frame stands in.
    fn tensor_module(&self, frame: FrameId) -> Option<&LoadedModule> {
        let recorded_at = self.command(frame.index).and_then(|step| step.recorded_at);
        let at = recorded_at.or_else(|| self.position_in(frame.index))?;
        self.program.module(at.function.module)
    }

    /// A name that only the dispatch of a frame has.
    fn evidence_of_operand(&self, frame: FrameId, operand: &NamedOperand) -> Evidence {
        let tensor = self.evidence_of_operand_tensor(frame, operand);
        let mut told = tensor.unwrap_or_default();
        told.name.clone_from(&operand.name);
        told.maker = Maker::Operands;
        let of_tensor = told.place.take().map_or_else(String::new, |place| format!(": {place}"));
        told.place = Some(format!("operand[{}] of the dispatch{of_tensor}", operand.index()));
        if let Some(other) = operand.other() {
            told.missing = Some(format!(
                "operand[{}] and operand[{other}] have this name, and are two tensors",
                operand.index()
            ));
        } else if let Some(item) = self.operand_item(frame, operand, false)
            && let Datum::Missing(reason) = item.datum
        {
            told.missing = Some(reason.words());
        }
        told
    }

    /// The tensor that an operand is, in the calls in which the source names it.
    fn evidence_of_operand_tensor(
        &self,
        frame: FrameId,
        operand: &NamedOperand,
    ) -> Option<Evidence> {
        let stand = self.stand(frame)?;
        let module = self.tensor_module(frame)?;
        let tensors = stand.tensors.tensors(stand.function, operand.value());
        let named = tensors.into_iter().find(|it| it.name == operand.name)?;
        let asked = named.asked(stand.function);
        stand.tensors.program.evidence(&asked, &|name| module.source_of(name))
    }

    /// That the dispatch of a frame has an operand with a name of its line, too.
    fn add_operand(
        &self,
        told: &mut Evidence,
        frame: FrameId,
        value: &ScopedValue,
        operand: &NamedOperand,
    ) {
        let index = operand.index();
        if self.is_operand(frame, value, operand) {
            told.notes.push(format!(
                "operand[{index}] of the dispatch has this name, too: it is proven to be the same \
                 tensor"
            ));
            return;
        }
        told.notes.push(format!(
            "operand[{index}] of the dispatch has this name, too: it is not proven to be the same \
             tensor, so that neither is shown"
        ));
        told.missing.get_or_insert_with(|| "two tensors have this name here".to_owned());
    }

    /// A global, by its symbol.
    fn evidence_of_global(&self, frame: FrameId, symbol: &str) -> Result<Evidence, NoEvidence> {
        let position = self.position_in(frame.index);
        let module = position.map_or(self.program.entry().module, |at| at.function.module);
        let loaded = self.program.module(module).ok_or(NoEvidence::NativeFrame)?;
        let globals = loaded.globals();
        let parameter = || {
            let name = loaded.info.parameter(symbol)?;
            Some((GlobalPlace::Ref(globals.parameter(&name)?), name))
        };
        let (place, note) = match (globals.named(symbol), parameter()) {
            (Some(place), _) => (
                place,
                "the VM program that iree-compile has printed loads or stores it by this symbol \
                 where the bytecode uses this place"
                    .to_owned(),
            ),
            (None, Some((place, name))) => (
                place,
                format!("the source declares it as a parameter, which the compiler calls @{name}"),
            ),
            (None, None) => return Err(NoEvidence::NoGlobal { symbol: symbol.to_owned() }),
        };
        let place = match place {
            GlobalPlace::Bytes(at) => format!("rwdata[{at}]"),
            GlobalPlace::Ref(index) => format!("refs[{index}]"),
        };
        Ok(Evidence {
            name: format!("@{symbol}"),
            maker: Maker::Globals,
            place: Some(place),
            grounds: Grounds::Declared,
            notes: vec![note],
            ..Evidence::default()
        })
    }
}

/// A name of the source whose code was not compared with it.
fn without_proof(value: &ScopedValue) -> Evidence {
    let missing = match value.location {
        ValueLocation::Missing(reason) => Some(reason.words().to_owned()),
        ValueLocation::Register(_) | ValueLocation::Computed(_) => None,
    };
    Evidence { name: value.name.clone(), missing, ..Evidence::default() }
}

/// A name without the quotes that expressions need.
fn unquoted(name: &str) -> String {
    let inner = name.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inner.map_or_else(|| name.to_owned(), |it| it.replace("\\\"", "\"").replace("\\\\", "\\"))
}
