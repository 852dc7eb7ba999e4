//! Matches the leaves of the two graphs: which instruction makes the result of which operation.
//!
//! Only locations can tell, so they have to be unambiguous: exactly one instruction with the
//! operation's location and calls, of a kind that the operation can become, with a result of a
//! matching type.

use std::collections::HashMap;

use mlir::table::{Control, Meaning, Tensor};
use vmfb::Op;

use super::arithmetic::Scalar;
use super::graph::{Block, Flow, Kind, Node};
use super::lower::Calls;
use super::registers::Registers;
use super::source_graph::{Made, SourceGraph};
use crate::bytecode::Code;
use crate::source::functions::{LineColumn, OperationIndex, SourceFunction};

/// The locations of an instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// The places of the inlined calls around it, then its own; empty if unknown.
    pub(crate) path: Vec<LineColumn>,
    /// The places of all operations that were fused into it.
    pub(crate) places: Vec<LineColumn>,
}

impl Origin {
    /// Whether it comes from one operation only.
    fn is_plain(&self) -> bool {
        self.places.len() <= 1
    }
}

/// The instructions by place.
#[derive(Debug)]
pub(crate) struct Origins {
    pub(crate) origins: Vec<Origin>,
    by_path: HashMap<Vec<LineColumn>, Vec<usize>>,
    calls: HashMap<Vec<LineColumn>, Vec<usize>>,
}

impl Origins {
    pub(crate) fn new(origins: Vec<Origin>, code: &Code, registers: &Registers) -> Self {
        let mut by_path: HashMap<Vec<LineColumn>, Vec<usize>> = HashMap::new();
        let mut calls: HashMap<Vec<LineColumn>, Vec<usize>> = HashMap::new();
        for (index, origin) in origins.iter().enumerate() {
            if origin.path.is_empty() || !origin.is_plain() {
                continue;
            }
            by_path.entry(origin.path.clone()).or_default().push(index);
            let is_call = code.instructions.get(index).is_some_and(|it| is_call(it.op));
            if let (true, Some(results)) = (is_call, registers.results.get(index)) {
                calls.entry(origin.path.clone()).or_default().push(results.len());
            }
        }
        Self { origins, by_path, calls }
    }

    /// The instructions that come from one place only, which is the last of `path`, through the
    /// calls before it.
    pub(crate) fn at(&self, path: &[LineColumn]) -> &[usize] {
        self.by_path.get(path).map_or(&[], Vec::as_slice)
    }
}

impl Calls for Origins {
    fn results(&self, path: &[LineColumn]) -> Option<usize> {
        match self.calls.get(path)?[..] {
            [only] => Some(only),
            _ => None,
        }
    }
}

fn is_call(op: Op) -> bool {
    matches!(op, Op::Call | Op::CallVariadic | Op::CallYieldable | Op::CallVariadicYieldable)
}

/// The leaves of the source, each with the value of the bytecode that equals it.
pub(crate) fn leaves(
    source: &SourceGraph,
    registers: &Registers,
    code: &Code,
    origins: &Origins,
    is_whole: bool,
) -> Vec<(Node, Node)> {
    let mut found = if is_whole { arguments(source, registers) } else { Vec::new() };
    for made in &source.made {
        found.extend(made_by(source, registers, code, origins, made).map(|it| (made.node, it)));
    }
    found
}

/// Arguments correspond in order if both sides have the same number and types. Two more at the end
/// are the fences that the compiler adds for asynchronous calls. If it has dropped unused
/// arguments, nothing is known.
pub(super) fn arguments(source: &SourceGraph, registers: &Registers) -> Vec<(Node, Node)> {
    let Some(function) = source.instances.first().map(|it| &it.function) else {
        return Vec::new();
    };
    let written: Vec<Option<Node>> =
        function.arguments().iter().map(|it| source.values.get(&(0, *it)).copied()).collect();
    let given = &registers.arguments;
    let scalar = |node: Node| registers.graph.nodes[node].scalar;
    let has_fences = given.len() == written.len() + 2
        && given[written.len()..].iter().all(|node| scalar(*node).is_none());
    if given.len() != written.len() && !has_fences {
        return Vec::new();
    }
    let pairs = written.into_iter().zip(given);
    let pairs = pairs.map(|(written, given)| Some((written?, *given)));
    let pairs: Option<Vec<(Node, Node)>> = pairs.collect();
    let fits = |(written, given): &(Node, Node)| {
        is_same_width(source.graph.nodes[*written].scalar, scalar(*given))
    };
    pairs.filter(|pairs| pairs.iter().all(fits)).unwrap_or_default()
}

/// Whether a register that holds a number of one type can hold a value of the source.
pub(crate) fn is_same_width(written: Option<Scalar>, held: Option<Scalar>) -> bool {
    match (written, held) {
        (None, None) => true,
        (Some(Scalar::Int(written)), Some(Scalar::Int(held))) => (written > 32) == (held > 32),
        (Some(written), Some(held)) => written == held,
        _ => false,
    }
}

fn made_by(
    source: &SourceGraph,
    registers: &Registers,
    code: &Code,
    origins: &Origins,
    made: &Made,
) -> Option<Node> {
    let instance = source.instances.get(made.instance)?;
    let operation = instance.function.operations.get(made.operation)?;
    let scalar = source.graph.nodes[made.node].scalar;
    let type_text = operation
        .results
        .get(made.result)
        .and_then(|it| instance.function.values.get(*it)?.type_text.as_deref());
    // The bytecode has no tensor values, and a value without a type matches nothing.
    let is_shaped = type_text.is_none_or(|it| it.starts_with("tensor") || it.starts_with("vector"));
    if scalar.is_none() && is_shaped {
        return None;
    }
    let here = origins.at(&source.path(made.instance, made.operation));
    let results = |index: usize| registers.results.get(index).map_or(&[][..], Vec::as_slice);
    if operation.results.len() > 1 || is_called(&operation.name) {
        let mut calls = here.iter().copied().filter(|index| {
            results(*index).len() == operation.results.len()
                && code.instructions.get(*index).is_some_and(|it| is_call(it.op))
        });
        let call = calls.next().filter(|_| calls.next().is_none())?;
        let node = *results(call).get(made.result)?;
        return fits(registers, scalar, node).then_some(node);
    }
    // An operation may take several instructions, such as a load and a cast, and the last one has
    // its result. The last one is the one whose result is no operand of another.
    let made_here: Vec<usize> =
        here.iter().copied().filter(|index| results(*index).len() == 1).collect();
    let is_constant =
        |index: &usize| matches!(registers.graph.nodes[results(*index)[0]].kind, Kind::Constant(_));
    let is_used_here = |index: &usize| {
        let result = results(*index)[0];
        made_here.iter().any(|other| registers.operands[*other].contains(&result))
    };
    let mut last = made_here.iter().filter(|index| !is_constant(index) && !is_used_here(index));
    let last = *last.next().filter(|_| last.next().is_none())?;
    let mnemonic = |index: &usize| code.instructions.get(*index).map_or("", |it| it.op.mnemonic());
    if !made_here.iter().any(|index| is_kind(&operation.name, mnemonic(index))) {
        return None;
    }
    let node = results(last)[0];
    fits(registers, scalar, node).then_some(node)
}

fn fits(registers: &Registers, scalar: Option<Scalar>, node: Node) -> bool {
    is_same_width(scalar, registers.graph.nodes[node].scalar)
}

fn is_called(name: &str) -> bool {
    mlir::table::control(name) == Some(Control::Call)
        || matches!(name, "vm.call" | "vm.call.variadic")
}

/// Whether an operation can become an instruction, judged by their names.
fn is_kind(operation: &str, mnemonic: &str) -> bool {
    let Some((dialect, name)) = operation.split_once('.') else { return false };
    if dialect == "vm" {
        return name == mnemonic || mnemonic.starts_with("call");
    }
    let prefix = match operation {
        "util.global.load" | "util.global.load.indirect" => "global.load",
        "util.list.create" => "list.alloc",
        "util.list.get" => "list.get",
        "util.list.size" => "list.size",
        "util.buffer.alloc" => "buffer.alloc",
        "util.buffer.constant" => "const.ref.rodata",
        "util.buffer.load" => "buffer.load",
        "util.buffer.size" => "buffer.length",
        "util.buffer.slice" | "util.buffer.subspan" => "buffer.clone",
        "util.buffer.compare" => "buffer.compare",
        "util.buffer.hash" => "buffer.hash",
        // Reads from tensors are calls of the runtime.
        _ if matches!(
            mlir::meaning(operation),
            Some(Meaning::Tensor(Tensor::Extract | Tensor::Dimension))
        ) =>
        {
            "call"
        }
        _ if dialect == "hal" || dialect == "flow" || dialect == "stream" => "call",
        // Mathematical functions that are not modelled keep their name.
        _ if dialect == "arith" || dialect == "math" => {
            return mnemonic.split('.').next().is_some_and(|first| name.starts_with(first));
        }
        _ => return false,
    };
    mnemonic.starts_with(prefix)
}

/// Whether the innermost loop around an operation is inside of a tensor operation, or of another
/// one that dispatches are made of: something that is no control flow is around it.
fn is_in_dispatch(function: &SourceFunction, operation: OperationIndex) -> bool {
    let control = |at: &OperationIndex| mlir::table::control(&function.operations[*at].name);
    let mut around = function.ancestors(operation).skip(1).filter(|at| *at > 0);
    let is_loop = |at: &OperationIndex| matches!(control(at), Some(Control::For | Control::While));
    around.any(|at| is_loop(&at)) && around.any(|at| control(&at).is_none())
}

/// The loops of the source, each with the loop of the bytecode that has its code, by their heads.
///
/// Each instruction votes for the innermost loop around it as the partner of the innermost loop
/// around its operation; the loop with the most votes wins. The code of a dispatch, which is a part
/// of a function, has no loop that runs the dispatch again and again, and loops of its own instead.
pub(crate) fn loops(
    source: &SourceGraph,
    registers: &Registers,
    [source_flow, flow]: [&Flow; 2],
    origins: &Origins,
    is_part: bool,
) -> Vec<(Block, Block)> {
    // By head, the number of instructions of its innermost operations in each loop of the bytecode.
    let mut votes: HashMap<Block, HashMap<Block, usize>> = HashMap::new();
    for ((instance, operation), block) in &source.blocks {
        let Some(head) = source_flow.loops(*block).next() else { continue };
        if is_part && !is_in_dispatch(&source.instances[*instance].function, *operation) {
            continue;
        }
        for index in origins.at(&source.path(*instance, *operation)) {
            let results = &registers.results[*index];
            let is_constant = results
                .iter()
                .any(|result| matches!(registers.graph.nodes[*result].kind, Kind::Constant(_)));
            let innermost = flow.loops(registers.blocks[*index]).next();
            if let Some(innermost) = innermost.filter(|_| !is_constant) {
                *votes.entry(head).or_default().entry(innermost).or_default() += 1;
            }
        }
    }
    let mut pairs = Vec::new();
    for head in source_flow.order.iter().filter(|block| source_flow.is_head(**block)) {
        let best = votes.get(head).and_then(|votes| {
            votes.iter().max_by_key(|(block, count)| (**count, std::cmp::Reverse(**block)))
        });
        if let Some((block, _)) = best {
            pairs.push((*head, *block));
        }
    }
    // A loop of the bytecode has at most one partner.
    let count = |block: Block| pairs.iter().filter(|(_, other)| *other == block).count();
    let is_unique: Vec<bool> = pairs.iter().map(|(_, block)| count(*block) == 1).collect();
    let mut keep = is_unique.into_iter();
    let mut unique = pairs.clone();
    unique.retain(|_| keep.next().unwrap_or(false));
    unique
}
