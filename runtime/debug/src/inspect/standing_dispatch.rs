//! The dispatch at which a program stands, as plain data: for a caller that runs a program from one
//! dispatch to the next, and looks at what each has left.

use abi::tensor::TensorType;
use debuginfo::{DispatchInterface, DispatchOperand, OperandAccess, TiledOperand};
use hal::{PastDispatch, Span};
use vm::FrameIndex;

use crate::inspect::dispatch::operand_tensor;
use crate::machine::Machine;
use crate::target::program::Program;
use crate::tensor::TensorView;
use crate::view::frame::SourceLine;

/// A dispatch that is next, or that has just run.
#[derive(Clone, Debug)]
pub struct StandingDispatch {
    /// The export that it runs.
    pub export: String,
    /// The number of its command.
    pub number: u64,
    /// Its index in [`Machine::dispatch_list`].
    pub index: Option<usize>,
    /// Its box in the graph of the dispatches, if it is known which one that is.
    pub node: Option<String>,
    /// The operation of the source that it was made from.
    pub source: Option<SourceLine>,
    /// Its push constants.
    pub constants: Vec<u32>,
    /// Its tensors, in order; empty if its source is not there.
    pub operands: Vec<StandingOperand>,
    /// Its tensors that lie tile by tile, if it is known of all of those how.
    pub tiled: Option<Vec<StandingTiles>>,
    /// Whether it runs as machine code.
    pub is_machine_code: bool,
    /// Why `operands` are not all of its tensors, if they are not.
    pub missing: Option<String>,
}

/// A tensor of such a dispatch.
#[derive(Clone, Debug)]
pub struct StandingOperand {
    /// Its name in the source, if it is known.
    pub name: Option<String>,
    /// The framework's name of it, if it is known.
    pub node: Option<String>,
    /// The binding that has it.
    pub binding: usize,
    /// Whether the dispatch reads it.
    pub is_read: bool,
    /// Whether the dispatch writes it.
    pub is_written: bool,
    /// Shape and element type.
    pub tensor_type: String,
    /// Its memory as it is now; none if the memory of the dispatch does not contain it.
    pub tensor: Option<TensorView>,
}

/// A tensor of such a dispatch that lies tile by tile.
#[derive(Clone, Debug)]
pub struct StandingTiles {
    /// Its tiles.
    pub operand: StandingOperand,
    /// The tensor that they are the tiles of, and how it is cut into them.
    pub tiled: TiledOperand,
}

impl StandingTiles {
    fn of(tiled: TiledOperand, tensor: Option<TensorView>) -> Self {
        let operand = StandingOperand {
            name: None,
            node: None,
            binding: tiled.operand.binding,
            is_read: tiled.operand.access != OperandAccess::Write,
            is_written: tiled.operand.access != OperandAccess::Read,
            tensor_type: tiled.operand.tensor_type.clone(),
            tensor,
        };
        Self { operand, tiled }
    }
}

impl StandingDispatch {
    /// Its tensors, those that lie tile by tile at the end, as far as it is known how.
    pub fn all_operands(&self) -> impl Iterator<Item = &StandingOperand> {
        self.operands.iter().chain(self.tiled.iter().flatten().map(|it| &it.operand))
    }

    /// How an operand lies, by its number in [`Self::all_operands`], if it lies tile by tile.
    #[must_use]
    pub fn tiles(&self, operand: usize) -> Option<&StandingTiles> {
        self.tiled.as_ref()?.get(operand.checked_sub(self.operands.len())?)
    }
}

impl Machine {
    /// The dispatch at which the program stands, if it stands at one.
    #[must_use]
    pub fn standing_dispatch(&self) -> Option<StandingDispatch> {
        let frame = FrameIndex(0);
        let (dispatch, number) = (self.dispatch(frame)?, self.command_number(frame)?);
        let export = dispatch.executable.name_of(dispatch.dispatch.export).into_owned();
        let interface = self.program.dispatch_interface(&export);
        let mut names = self.known_operands(frame, &dispatch).into_iter();
        let operands = self.operands(&dispatch).into_iter().map(|(operand, tensor)| {
            let (name, node) = names.next().flatten().map(|it| (it.name, it.node)).unzip();
            StandingOperand {
                name,
                node: node.flatten(),
                binding: operand.binding,
                is_read: operand.access != OperandAccess::Write,
                is_written: operand.access != OperandAccess::Read,
                tensor_type: operand.tensor_type,
                tensor,
            }
        });
        let operands: Vec<_> = operands.collect();
        let constants = dispatch.dispatch.constants.to_vec();
        let tiled =
            tiled(interface, &constants, operands.len(), |it| operand_tensor(&dispatch, it));
        Some(StandingDispatch {
            tiled,
            number,
            index: self.dispatch_index(frame),
            node: self.dispatch_operation(frame).map(debuginfo::node_id),
            source: self.dispatch_source(frame),
            is_machine_code: dispatch.executable.bytecode().is_none(),
            missing: missing(interface, &constants, &operands),
            export,
            constants,
            operands,
        })
    }
}

impl Program {
    /// A dispatch that ran, with its tensors as they are now and where they are.
    pub(crate) fn past_dispatch(
        &self,
        number: u64,
        past: &PastDispatch,
    ) -> Option<(StandingDispatch, Vec<Option<Span>>)> {
        let export = past.export()?.name.clone();
        let interface = self.dispatch_interface(&export);
        let operands = interface.map(|it| it.operands(&past.constants)).unwrap_or_default();
        let placed = operands.into_iter().map(|operand| {
            let (tensor, span) = past_tensor(past, &operand);
            let standing = StandingOperand {
                name: None,
                node: None,
                binding: operand.binding,
                is_read: operand.access != OperandAccess::Write,
                is_written: operand.access != OperandAccess::Read,
                tensor_type: operand.tensor_type,
                tensor,
            };
            (standing, span)
        });
        let (operands, spans): (Vec<_>, Vec<_>) = placed.unzip();
        let constants = past.constants.to_vec();
        let tiled = tiled(interface, &constants, operands.len(), |it| past_tensor(past, it).0);
        let dispatch = StandingDispatch {
            tiled,
            number,
            index: None,
            node: None,
            source: None,
            is_machine_code: false,
            missing: missing(interface, &constants, &operands),
            export,
            constants,
            operands,
        };
        Some((dispatch, spans))
    }
}

/// The tensors that lie tile by tile, if all others are known.
fn tiled(
    interface: Option<&DispatchInterface>,
    constants: &[u32],
    others: usize,
    tensor: impl Fn(&DispatchOperand) -> Option<TensorView>,
) -> Option<Vec<StandingTiles>> {
    let interface = interface.filter(|it| it.tensor_count() == others)?;
    let standing = |it: TiledOperand| {
        let tensor = tensor(&it.operand);
        StandingTiles::of(it, tensor)
    };
    Some(interface.tiled(constants)?.into_iter().map(standing).collect())
}

/// A tensor of a dispatch that ran, as it is now, and where it is.
fn past_tensor(
    past: &PastDispatch,
    operand: &DispatchOperand,
) -> (Option<TensorView>, Option<Span>) {
    let tensor_type = TensorType::parse(&operand.tensor_type).ok();
    let span = tensor_type.as_ref().and_then(|tensor_type| {
        let offset = usize::try_from(operand.offset).ok()?;
        let length = tensor_type.byte_length(usize::MAX).ok()?;
        past.bindings.get(operand.binding)?.part(offset, length)
    });
    let bytes = span.as_ref().and_then(Span::bytes);
    let tensor = bytes.zip(tensor_type);
    (tensor.and_then(|(bytes, it)| TensorView::new(bytes, it).ok()), span)
}

/// Why some tensors of a dispatch are not known.
fn missing(
    interface: Option<&DispatchInterface>,
    constants: &[u32],
    operands: &[StandingOperand],
) -> Option<String> {
    let Some(interface) = interface else {
        let how = "compile the program with `iree-dbg compile`, which keeps it";
        return Some(format!("its source is not there; {how}"));
    };
    let encoded = interface.encoded(constants);
    let is_encoded = |written: bool| {
        let known = encoded.iter().flatten();
        known.filter(|it| written == (it.access != OperandAccess::Read)).count() > 0
    };
    if encoded.is_none() || is_encoded(true) {
        return Some("it writes a tensor in an order of elements of the machine's own".to_owned());
    }
    if is_encoded(false) {
        return Some("it reads a tensor in an order of elements of the machine's own".to_owned());
    }
    if operands.len() != interface.tensor_count() {
        return Some("where its tensors are depends on numbers that are not known".to_owned());
    }
    let outside = operands.iter().any(|it| it.tensor.is_none());
    outside.then(|| "one of its tensors is outside of its memory".to_owned())
}
