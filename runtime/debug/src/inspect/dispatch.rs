//! The dispatch that a frame belongs to, with its bindings as tensors.
//!
//! Where the sources of dispatches lie beside the module ([`debuginfo::DispatchInterfaces`]), they
//! say which tensors are in which bindings: these are the operands.
//!
//! A binding by itself is bytes. Their type is taken from the best information there is, in this
//! order:
//!
//! 1. the only operand in the binding, if it begins where the binding does;
//! 2. a buffer view of the same memory that the program has: an input, or a reference in a register
//!    or a global;
//! 3. the name of the dispatch, which the compiler builds from the loop bounds and the element type
//!    (`matmul_4x16x8_f32` multiplies 4x8 by 8x16): the bounds whose product is the number of
//!    elements, in the order that the kind of operation has them;
//! 4. the element type alone, from the name, or from the loads and stores of its bytecode;
//! 5. none: the binding is bytes.
//!
//! A cast in an expression (`binding[0] as 4x8xf32`) overrides all of this.

use std::any::Any;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use abi::tensor::TensorType;
use debuginfo::{DispatchInterface, DispatchOperand, EncodedOperand, OperandAccess};
use hal::{Buffer, BufferView, CommandBuffer, QueueActivity, ResolvedDispatch};
use vm::{Activity, FrameFunction, FrameIndex, FunctionId, Ref, Value};

use super::guessed_types::{NamedShape, accessed_type};
use super::progress::as_far_as;
use super::tensor_memory::OperandName;
use crate::expression::{Datum, EvaluationError};
use crate::machine::Machine;
use crate::tensor::TensorView;
use crate::view::absent::Absent;
use crate::view::frame::{FrameId, SourceLine};
use crate::view::text::tensor_type_of;
use crate::view::value::variable;
use crate::view::variable::{Children, Node, Variable};

/// The type of what is a number of workgroups in x, y and z.
const WORKGROUPS: &str = "workgroups";

/// What a dispatch does to a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DispatchUse {
    Reading,
    Writing,
}

/// Where a dispatch has a tensor, as expressions say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DispatchPlace {
    Operand(usize),
    Binding(usize),
}

impl fmt::Display for DispatchPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operand(index) => write!(f, "operand[{index}]"),
            Self::Binding(index) => write!(f, "binding[{index}]"),
        }
    }
}

impl DispatchPlace {
    /// What operands have here.
    pub(crate) fn of<T>(self, operands: &[Option<T>]) -> Option<&T> {
        match self {
            Self::Operand(index) => operands.get(index)?.as_ref(),
            Self::Binding(_) => None,
        }
    }

    /// The tensor here by its name, or as expressions say it.
    pub(crate) fn describe(self, names: &[Option<OperandName>], tensor: &TensorView) -> String {
        let known = self.of(names).map(|it| it.describe(tensor.tensor_type()));
        known.unwrap_or_else(|| self.to_string())
    }
}

/// The memory of an operand as a tensor; `None` if that of its dispatch does not contain it.
pub(crate) fn operand_tensor(
    dispatch: &ResolvedDispatch,
    operand: &DispatchOperand,
) -> Option<TensorView> {
    let storage = dispatch.buffers.get(operand.binding)?.storage();
    let offset = usize::try_from(operand.offset).ok()?;
    let rest = storage.len().checked_sub(offset)?;
    let part = storage.subspan(offset, rest).ok()?;
    let tensor_type = TensorType::parse(&operand.tensor_type).ok()?;
    TensorView::new(Arc::new(part), tensor_type).ok()
}

impl Machine {
    /// The activity of a device's queue that a frame belongs to, as a part of it or as bytecode
    /// that it runs.
    pub(crate) fn queue_activity(&self, frame: FrameIndex) -> Option<&QueueActivity> {
        let invocation = self.invocation()?;
        for index in frame.0..invocation.depth() {
            let found = invocation.frame(&self.context, FrameIndex(index))?;
            let is_nested = self.context.is_attached(found.module);
            match found.function {
                FrameFunction::Bytecode(_) if is_nested => {}
                FrameFunction::Native(_) if is_nested => {}
                FrameFunction::Bytecode(_) => return None,
                FrameFunction::Native(_) | FrameFunction::Part { .. } => {
                    let activity: &dyn Activity = invocation.activity(FrameIndex(index))?;
                    return (activity as &dyn Any).downcast_ref();
                }
            }
        }
        None
    }

    /// The dispatch that a frame belongs to.
    pub(crate) fn dispatch(&self, frame: FrameIndex) -> Option<ResolvedDispatch> {
        self.queue_activity(frame)?.dispatch().ok().flatten()
    }

    /// The function that a dispatch runs, if it is bytecode in the program's context.
    pub(crate) fn dispatch_function(&self, dispatch: &ResolvedDispatch) -> Option<FunctionId> {
        let device = self.program.host().device();
        let module = device.nested_modules().module_of(&dispatch.executable)?;
        let bytecode = dispatch.executable.bytecode()?;
        let function = *bytecode.functions.get(dispatch.dispatch.export)?;
        Some(FunctionId { module, function })
    }

    /// The source of a command: where it was recorded, or else the function that it runs.
    pub(crate) fn dispatch_source(&self, frame: FrameIndex) -> Option<SourceLine> {
        if let Some(recorded) = self.command_source(frame) {
            return Some(recorded);
        }
        let dispatch = self.dispatch(frame)?;
        if let Some(function) = self.dispatch_function(&dispatch) {
            return self.lines().source_of(function);
        }
        let export = dispatch.executable.exports().get(dispatch.dispatch.export)?;
        let interface = self.program.dispatch_interface(&export.name);
        if let Some(at) = interface.and_then(DispatchInterface::position) {
            return self.line_of_place(at);
        }
        let source = export.source.as_ref()?;
        self.program.source_named(&source.file, source.line)
    }

    /// The source of a command as text for sentences: `a.mlir:5`.
    pub(crate) fn dispatch_place(&self, frame: FrameIndex) -> Option<String> {
        let source = self.dispatch_source(frame)?;
        Some(format!("{}:{}", source.file, source.line))
    }

    /// The variables of a dispatch for a list that people read: what it is given, as it is passed,
    /// is one row that is closed, if its operands are known.
    #[must_use]
    pub fn dispatch_rows(&self, frame: FrameId) -> Vec<Variable> {
        let mut rows = self.dispatch_variables(frame.index);
        let passed = self.passed_variables(frame.index);
        let knows_operands = rows.iter().any(|row| row.type_name != WORKGROUPS);
        if passed.is_empty() || !knows_operands {
            rows.extend(passed);
            return rows;
        }
        let bindings = passed.iter().filter(|it| it.name.starts_with("binding")).count();
        let constants = passed.len() - bindings;
        let value = match constants {
            0 => format!("{bindings}"),
            _ => format!("{bindings}, and {constants} constants"),
        };
        let children = Some(Children { node: Node::Passed(frame), indexed: None });
        rows.push(Variable { children, ..Variable::plain("bindings", value, "") });
        rows
    }

    /// The variables of a dispatch: workgroup and operands.
    pub(crate) fn dispatch_variables(&self, frame: FrameIndex) -> Vec<Variable> {
        let Some(dispatch) = self.dispatch(frame) else { return Vec::new() };
        let workgroup = self.queue_activity(frame).and_then(QueueActivity::workgroup);
        let three = |name: &str, [x, y, z]: [u32; 3]| {
            Variable::plain(name, format!("({x}, {y}, {z})"), WORKGROUPS).evaluated_as(name)
        };
        let mut variables: Vec<Variable> =
            workgroup.map(|id| three("workgroup_id", id)).into_iter().collect();
        variables.push(three("workgroup_count", dispatch.dispatch.workgroup_count));
        let hints = self.hints(&dispatch);
        let names = self.names_of_operands(frame, &dispatch);
        for (index, (operand, tensor)) in hints.operands.iter().enumerate() {
            let expression = format!("operand[{index}]");
            let named = names.get(index).cloned().flatten();
            let name = operand_name(named.as_deref(), operand.access, &expression);
            let shown = operand_variable(&expression, operand, tensor.as_ref());
            let shown = as_far_as(self.progress_of(frame), operand.access, shown);
            variables.push(Variable { name, ..shown });
        }
        variables
    }

    /// What a dispatch is given, as it is passed: its bindings and constants.
    pub(crate) fn passed_variables(&self, frame: FrameIndex) -> Vec<Variable> {
        let Some(dispatch) = self.dispatch(frame) else { return Vec::new() };
        let hints = self.hints(&dispatch);
        let mut variables = Vec::new();
        for (index, buffer) in dispatch.buffers.iter().enumerate() {
            let name = format!("binding[{index}]");
            let shown = self.binding(&dispatch, index, buffer, &hints);
            variables.push(Variable { name: name.clone(), ..shown }.evaluated_as(&name));
        }
        for (index, constant) in dispatch.dispatch.constants.iter().enumerate() {
            let name = format!("constant[{index}]");
            variables.push(Variable::plain(&name, constant.to_string(), "i32").evaluated_as(&name));
        }
        variables
    }

    /// The workgroup that a frame belongs to, if any, and the workgroup count.
    pub(crate) fn workgroup(&self, frame: FrameIndex) -> Option<(Option<[u32; 3]>, [u32; 3])> {
        let activity = self.queue_activity(frame)?;
        let dispatch = activity.dispatch().ok().flatten()?;
        Some((activity.workgroup(), dispatch.dispatch.workgroup_count))
    }

    /// A binding of the dispatch that a frame belongs to: a tensor, or plain memory.
    pub(crate) fn binding_value(
        &self,
        frame: FrameIndex,
        index: usize,
    ) -> Result<Datum, EvaluationError> {
        let dispatch = self.dispatch(frame).ok_or(EvaluationError::NoDispatch)?;
        let count = dispatch.buffers.len();
        let buffer = dispatch.buffers.get(index).ok_or(EvaluationError::NoMember {
            what: "binding",
            index,
            owner: "dispatch",
            count,
        })?;
        let tensor = self.binding_tensor(&dispatch, index, buffer, &self.hints(&dispatch));
        Ok(tensor.map_or_else(|| Datum::buffer(buffer.storage()), Datum::Tensor))
    }

    /// An operand of the dispatch that a frame belongs to.
    pub(crate) fn operand_value(
        &self,
        frame: FrameIndex,
        index: usize,
    ) -> Result<Datum, EvaluationError> {
        let dispatch = self.dispatch(frame).ok_or(EvaluationError::NoDispatch)?;
        let mut operands = self.operands(&dispatch);
        let count = operands.len();
        if count == 0 {
            return Err(EvaluationError::OperandsUnknown);
        }
        if index >= count {
            let (what, owner) = ("operand", "dispatch");
            return Err(EvaluationError::NoMember { what, index, owner, count });
        }
        let (operand, tensor) = operands.swap_remove(index);
        tensor.map(Datum::Tensor).ok_or_else(|| {
            let DispatchOperand { binding, offset, tensor_type, .. } = operand;
            EvaluationError::NotInBinding { binding, tensor_type, offset }
        })
    }

    /// The names in the source of what the dispatch of a frame writes.
    #[must_use]
    pub fn names_written(&self, frame: FrameId) -> Vec<String> {
        let Some(dispatch) = self.dispatch(frame.index) else { return Vec::new() };
        let names = self.names_of_operands(frame.index, &dispatch).into_iter();
        let operands = self.operands(&dispatch);
        let written = names.zip(&operands);
        let written = written.filter(|(_, (operand, _))| operand.access != OperandAccess::Read);
        written.filter_map(|(name, _)| name).collect()
    }

    /// The names of a dispatch's operands in the source.
    pub(super) fn names_of_operands(
        &self,
        frame: FrameIndex,
        dispatch: &ResolvedDispatch,
    ) -> Vec<Option<String>> {
        let known = self.known_operands(frame, dispatch).into_iter();
        known.map(|it| Some(it?.name)).collect()
    }

    /// The same, with the framework's names and the source's types.
    pub(crate) fn known_operands(
        &self,
        frame: FrameIndex,
        dispatch: &ResolvedDispatch,
    ) -> Vec<Option<OperandName>> {
        let recorded_at = self.command(frame).and_then(|step| step.recorded_at);
        let export = dispatch.executable.exports().get(dispatch.dispatch.export);
        let interface = export.and_then(|export| self.program.dispatch_interface(&export.name));
        match (recorded_at, interface) {
            (Some(at), Some(interface)) => {
                let count = interface.operands(&dispatch.dispatch.constants).len();
                self.operand_names(at, interface, count)
            }
            _ => Vec::new(),
        }
    }

    /// The operands of a dispatch, as far as its source is known; without a tensor if the memory of
    /// the dispatch does not contain it.
    pub(crate) fn operands(
        &self,
        dispatch: &ResolvedDispatch,
    ) -> Vec<(DispatchOperand, Option<TensorView>)> {
        let export = dispatch.executable.exports().get(dispatch.dispatch.export);
        let interface = export.and_then(|export| self.program.dispatch_interface(&export.name));
        let Some(interface) = interface else { return Vec::new() };
        let operands = interface.operands(&dispatch.dispatch.constants);
        let with_tensor = operands.into_iter().map(|operand| {
            let tensor = operand_tensor(dispatch, &operand);
            (operand, tensor)
        });
        with_tensor.collect()
    }

    /// The operands that a dispatch reads, or those that it writes, each with its number. Operands
    /// outside the memory of the dispatch are left out.
    pub(crate) fn operands_used(
        &self,
        dispatch: &ResolvedDispatch,
        by: DispatchUse,
    ) -> Vec<(usize, TensorView)> {
        let unused = match by {
            DispatchUse::Reading => OperandAccess::Write,
            DispatchUse::Writing => OperandAccess::Read,
        };
        let operands = self.operands(dispatch).into_iter().enumerate();
        let used = operands.filter(|(_, (operand, _))| operand.access != unused);
        used.filter_map(|(index, (_, tensor))| Some((index, tensor?))).collect()
    }

    /// The tensors that a dispatch may write: its operands, or all bindings that are tensors.
    pub(crate) fn written_tensors(
        &self,
        dispatch: &ResolvedDispatch,
    ) -> Vec<(DispatchPlace, TensorView)> {
        let hints = self.hints(dispatch);
        if !hints.operands.is_empty() {
            let written = self.operands_used(dispatch, DispatchUse::Writing).into_iter();
            return written.map(|(index, it)| (DispatchPlace::Operand(index), it)).collect();
        }
        let bindings = dispatch.buffers.iter().enumerate();
        let named = bindings.filter_map(|(index, buffer)| {
            let tensor = self.binding_tensor(dispatch, index, buffer, &hints)?;
            Some((DispatchPlace::Binding(index), tensor))
        });
        named.collect()
    }

    /// What is known about the tensors of a dispatch, gathered once for all bindings.
    fn hints(&self, dispatch: &ResolvedDispatch) -> Hints {
        Hints { operands: self.operands(dispatch), views: self.known_views() }
    }

    fn binding(
        &self,
        dispatch: &ResolvedDispatch,
        index: usize,
        buffer: &Buffer,
        hints: &Hints,
    ) -> Variable {
        let tensor = self.binding_tensor(dispatch, index, buffer, hints);
        tensor.map_or_else(|| buffer_variable("", buffer), |tensor| tensor.variable(""))
    }

    fn binding_tensor(
        &self,
        dispatch: &ResolvedDispatch,
        index: usize,
        buffer: &Buffer,
        hints: &Hints,
    ) -> Option<TensorView> {
        let tensor_type = hints
            .only_operand(index)
            .or_else(|| {
                let view = hints.views.iter().find(|view| is_same_memory(view.buffer(), buffer));
                view.and_then(tensor_type_of)
            })
            .or_else(|| self.guess(dispatch, index, buffer.len()));
        TensorView::new(buffer.storage(), tensor_type?).ok()
    }

    fn guess(
        &self,
        dispatch: &ResolvedDispatch,
        index: usize,
        length: usize,
    ) -> Option<TensorType> {
        let export = dispatch.executable.exports().get(dispatch.dispatch.export)?;
        let named = NamedShape::of(export);
        let by_code = || {
            let function = self.dispatch_function(dispatch)?;
            let module = self.program.module(function.module)?;
            TensorType::parse(accessed_type(&module.module, function)?).ok()
        };
        let element_type = named
            .as_ref()
            .map(|named| named.tensor_type.element_type)
            .or_else(|| by_code().map(|scalar| scalar.element_type))?;
        let size = element_type.byte_count();
        if size == 0 || element_type.is_packed() || !length.is_multiple_of(size) {
            return None;
        }
        let count = (length / size) as u64;
        // Encoded tensors are padded: that a shape has as many elements is chance.
        let named = named.filter(|_| !self.may_be_encoded(dispatch, index));
        let shape = named.and_then(|named| named.shape(index, count)).unwrap_or(vec![count]);
        Some(TensorType { shape, element_type })
    }

    /// Whether a binding of a dispatch may have a tensor in an order of elements of the machine's.
    fn may_be_encoded(&self, dispatch: &ResolvedDispatch, binding: usize) -> bool {
        let export = dispatch.executable.exports().get(dispatch.dispatch.export);
        let interface = export.and_then(|export| self.program.dispatch_interface(&export.name));
        let encoded = interface.map(|it| it.encoded(&dispatch.dispatch.constants));
        let is_in = |all: Vec<EncodedOperand>| all.iter().any(|it| it.binding == binding);
        encoded.is_some_and(|known| known.is_none_or(is_in))
    }

    /// The program's buffer views: its inputs, and references in registers and globals.
    fn known_views(&self) -> Vec<BufferView> {
        let mut views = Vec::new();
        let mut add = |value: &Ref| views.extend(value.downcast::<BufferView>().cloned());
        for argument in self.program.arguments() {
            if let Value::Ref(value) = argument {
                add(value);
            }
        }
        let Some(invocation) = self.invocation() else { return views };
        for (index, frame) in invocation.frames(&self.context).enumerate() {
            for register in 0..frame.ref_register_count {
                if let Some(value) = invocation.register_ref(FrameIndex(index), register) {
                    add(value);
                }
            }
        }
        for (module, _, _) in self.context.modules() {
            self.context.global_refs(module).iter().for_each(&mut add);
        }
        views
    }

    /// Whether the device has live allocations.
    pub(crate) fn has_allocations(&self) -> bool {
        !self.program.host().device().allocator().live().is_empty()
    }

    /// The memory that registers and globals lead to: by buffers and views, and by command buffers.
    fn reached_storage(&self) -> HashSet<*const vm::Buffer> {
        let Some(invocation) = self.invocation() else { return HashSet::new() };
        let mut found = HashSet::new();
        for reference in invocation.reached(&self.context) {
            let Ref::Object(object) = reference else { continue };
            found.extend(object.storage().map(|it| Arc::as_ptr(&it)));
            if let Some(commands) = object.as_any().downcast_ref::<CommandBuffer>() {
                found.extend(
                    commands.buffers().iter().map(|it| Arc::as_ptr(it.allocation().storage())),
                );
            }
        }
        found
    }

    /// The live allocations of the device, oldest first.
    #[must_use]
    pub fn allocations(&self) -> Vec<Variable> {
        let allocator = self.program.host().device().allocator();
        let live = allocator.live();
        // What is recorded keeps what the program has let go, as it may go back to it.
        let reached = allocator.makes().is_on().then(|| self.reached_storage());
        let shown = live.into_iter().map(|live| {
            let parameters = *live.allocation.parameters();
            let storage = live.allocation.storage();
            let buffer = Buffer::new(Arc::clone(storage), parameters);
            let name = format!("#{}", live.number);
            let is_reached = reached.as_ref().is_none_or(|all| all.contains(&Arc::as_ptr(storage)));
            let value = format!(
                "{} bytes by {}, {}, {}{}",
                storage.len(),
                live.origin,
                parameters.memory_type,
                parameters.usage,
                if is_reached { "" } else { "; no register or global leads to it" }
            );
            Variable { value, ..buffer_variable(&name, &buffer) }
        });
        shown.collect()
    }
}

/// What is known about the tensors of a dispatch.
struct Hints {
    operands: Vec<(DispatchOperand, Option<TensorView>)>,
    /// The program's buffer views.
    views: Vec<BufferView>,
}

impl Hints {
    /// The type of a binding that is one operand from its start.
    fn only_operand(&self, binding: usize) -> Option<TensorType> {
        let mut inside = self.operands.iter().filter(|(operand, _)| operand.binding == binding);
        let (operand, tensor) = inside.next().filter(|_| inside.next().is_none())?;
        let tensor = tensor.as_ref().filter(|_| operand.offset == 0)?;
        Some(tensor.tensor_type().clone())
    }
}

/// The name of an operand as it is shown: whether it goes in or out, and what the source calls it.
fn operand_name(named: Option<&str>, access: OperandAccess, expression: &str) -> String {
    let direction = match access {
        OperandAccess::Read => "in",
        OperandAccess::Write => "out",
        OperandAccess::ReadWrite => "in/out",
    };
    named.map_or_else(|| expression.to_owned(), |name| format!("{direction} {name}"))
}

/// How a dispatch uses a tensor, in words.
pub(super) fn access_text(is_read: bool, is_written: bool) -> &'static str {
    match (is_read, is_written) {
        (true, true) => "read and written",
        (false, true) => "written",
        (_, false) => "read",
    }
}

fn operand_variable(
    name: &str,
    operand: &DispatchOperand,
    tensor: Option<&TensorView>,
) -> Variable {
    let access =
        access_text(operand.access != OperandAccess::Write, operand.access != OperandAccess::Read);
    let DispatchOperand { binding, offset, tensor_type, .. } = operand;
    let place = format!("{access}, binding[{binding}]+{offset}");
    match tensor {
        Some(tensor) => {
            let shown = tensor.variable(name).evaluated_as(name);
            Variable { type_name: format!("{} ({place})", shown.type_name), ..shown }
        }
        None => {
            let reason = Absent::OutsideMemory { binding: Some(*binding) };
            Variable::without_value(name, reason, tensor_type)
        }
    }
}

fn is_same_memory(one: &Buffer, other: &Buffer) -> bool {
    Arc::ptr_eq(one.allocation().storage(), other.allocation().storage())
        && one.offset() == other.offset()
        && one.len() == other.len()
}

/// A device buffer, which can be viewed as any element type.
pub(crate) fn buffer_variable(name: &str, buffer: &Buffer) -> Variable {
    let value = Value::Ref(Ref::Buffer(buffer.storage()));
    Variable { type_name: "!hal.buffer".to_owned(), ..variable(name, &value) }
}
