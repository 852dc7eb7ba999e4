//! What dispatches read and write, from the text of their sources.
//!
//! A dispatch gets memory and numbers; where in that memory its tensors are, of which shape and
//! type, is known to its code alone. iree-compile prints it (`--compile-to=executable-sources`):
//!
//! ```text
//! func.func @main_dispatch_7_softmax_12x64x64xf32() {
//!   %0 = hal.interface.constant.load layout(…) ordinal(1) : i32
//!   %1 = arith.index_castui %0 : i32 to index
//!   %2 = hal.interface.binding.subspan layout(…) binding(0) offset(%1) … :
//!        !iree_tensor_ext.dispatch.tensor<readonly:tensor<12x?x64xf32>>{%dim}
//! ```
//!
//! With `--mlir-print-debuginfo` it also says which lines of the user's source the dispatch was
//! made of, which is all there is to know where it is machine code.
//!
//! Offsets and dimensions are numbers that the dispatch is given, put together by a handful of
//! operations. These are done here, for the numbers of one dispatch
//! ([`DispatchInterface::operands`]); what depends on any other operation is left out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;
use vmfb::{FileBytes, archive};

use crate::dispatch_calls::{self, DispatchCall};
use crate::dispatch_text::{
    DispatchBody, Places, Statement, WrittenAt, definition, operands, statements, symbol,
};

/// What is known of dispatches.
#[derive(Clone, Debug, Default)]
pub struct DispatchInterfaces {
    /// By the names that they are exported by.
    interfaces: HashMap<String, DispatchInterface>,
    /// Where they are called, in the order of the program.
    calls: Vec<DispatchCall>,
}

/// What one dispatch reads and writes.
#[derive(Clone, Debug, Default)]
pub struct DispatchInterface {
    /// In the order of the text, so that operands come before what uses them.
    definitions: Vec<Definition>,
    subspans: Vec<Subspan>,
    body: DispatchBody,
}

/// A tensor that a dispatch reads or writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DispatchOperand {
    /// The binding whose memory it is in.
    pub binding: usize,
    /// Where it begins there, in bytes.
    pub offset: u64,
    /// Shape and element type: `12x64x64xf32`.
    pub tensor_type: String,
    /// What the dispatch does with it.
    pub access: OperandAccess,
}

/// What a dispatch does with a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandAccess {
    /// It only reads it.
    Read,
    /// It only writes it.
    Write,
    /// It does both.
    ReadWrite,
}

/// Values and how they come to be.
#[derive(Clone, Debug)]
struct Definition {
    names: Vec<String>,
    operation: Operation,
}

#[derive(Clone, Debug)]
enum Operation {
    /// A number that the dispatch is given, by its ordinal.
    Constant(usize),
    Literal(u64),
    /// Each result is the operand in its place.
    Same(Vec<String>),
    Binary(fn(u64, u64) -> u64, String, String),
}

#[derive(Clone, Debug)]
struct Subspan {
    binding: usize,
    offset: Option<String>,
    dimensions: Vec<Dimension>,
    element_type: String,
    access: OperandAccess,
}

#[derive(Clone, Debug)]
enum Dimension {
    Static(u64),
    Dynamic(String),
}

impl DispatchInterfaces {
    /// The compiler's pass after which each call has a dispatch of its own.
    pub const OUTLINING_PASS: &str = dispatch_calls::OUTLINING_PASS;

    /// The file that belongs to a module: its name with `.dispatches.mlir` appended.
    #[must_use]
    pub fn path_beside(module: &Path) -> PathBuf {
        let mut name = module.as_os_str().to_owned();
        name.push(".dispatches.mlir");
        PathBuf::from(name)
    }

    /// What the sources beside a module say; nothing, if they are not there or are of another
    /// module, such as one that was compiled to the same place before.
    #[must_use]
    pub fn beside(module: &Path) -> Self {
        let bytes = archive::open(module).ok();
        let read = bytes.and_then(|bytes| Self::read_beside(module, &bytes));
        read.map(|(interfaces, _)| interfaces).unwrap_or_default()
    }

    /// What the sources beside a module say, if they are there and are of these bytes, and their
    /// file.
    #[must_use]
    pub fn read_beside(module: &Path, bytes: &FileBytes) -> Option<(Self, FileBytes)> {
        let file = FileBytes::read(&Self::path_beside(module)).ok()?;
        let (heading, sources) = std::str::from_utf8(file.owned()).ok()?.split_once('\n')?;
        let is_of_module = Self::heading(bytes).as_deref() == Some(heading)
            || Self::former_heading(bytes).as_deref() == Some(heading);
        is_of_module.then(|| (Self::parse(sources), file.clone()))
    }

    /// The text to keep beside a module, at [`DispatchInterfaces::path_beside`]: a heading that
    /// identifies the module, the calls of its dispatches, and their sources as iree-compile prints
    /// them. `outlined` is its text after [`DispatchInterfaces::OUTLINING_PASS`], or empty. `None`
    /// without any dispatch.
    #[must_use]
    pub fn text_beside(module: &FileBytes, sources: &str, outlined: &str) -> Option<String> {
        let interfaces = Self::parse(sources);
        if interfaces.is_empty() {
            return None;
        }
        let calls = dispatch_calls::written(outlined, interfaces.names());
        Some(format!("{}\n{calls}{sources}", Self::heading(module)?))
    }

    /// The first line of the sources beside a module: it says which module they are of.
    fn heading(module: &FileBytes) -> Option<String> {
        let digest = archive::digest(module)?;
        let length = module.len();
        Some(format!("// dispatches of a module of {length} bytes, xxh3 {digest:016x}"))
    }

    /// What stood there before, which only tells archives apart.
    fn former_heading(module: &FileBytes) -> Option<String> {
        let length = module.len();
        let digest = XxHash3_64::oneshot(&module.get(0..length.min(4096))?);
        Some(format!(
            "// dispatches of a module of {length} bytes, the first of them xxh3 {digest:016x}"
        ))
    }

    /// Reads what iree-compile prints. Lines that are something else are passed over.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut interfaces = HashMap::new();
        let mut current: Option<(String, DispatchInterface)> = None;
        let mut places = Places::of(text);
        for statement in statements(text) {
            if let Some(rest) = statement.text.strip_prefix("func.func ") {
                interfaces.extend(current.take());
                current = symbol(rest).map(|(name, _)| (name, DispatchInterface::default()));
            } else if statement.text.starts_with("return") {
                // What comes next closes brackets, with locations of others.
                interfaces.extend(current.take());
            } else if let Some((_, interface)) = &mut current {
                interface.add(&statement, &mut places);
            }
        }
        interfaces.extend(current);
        interfaces.retain(|_, interface| !interface.subspans.is_empty());
        Self { interfaces, calls: DispatchCall::parse(text) }
    }

    /// The calls of dispatches, where they are known.
    #[must_use]
    pub fn calls(&self) -> &[DispatchCall] {
        &self.calls
    }

    /// The call of a dispatch at a place, if there is only one.
    #[must_use]
    pub fn call(&self, export: &str, path: &[WrittenAt]) -> Option<&DispatchCall> {
        let mut found = self.calls.iter().filter(|it| it.export == export && it.path == path);
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }

    /// The dispatches that have an operation of a line.
    pub fn on_line(&self, file: &str, line: u32) -> impl Iterator<Item = &str> {
        let is_here = move |at: &WrittenAt| at.line == line && at.file == file;
        let here = self.interfaces.iter().filter(move |(_, it)| it.work().any(is_here));
        here.map(|(name, _)| name.as_str())
    }

    /// Whether nothing is known of any dispatch.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.interfaces.is_empty()
    }

    /// The names that dispatches are exported by, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.interfaces.keys().map(String::as_str)
    }

    /// The interface of the dispatch that is exported by a name.
    #[must_use]
    pub fn of(&self, export: &str) -> Option<&DispatchInterface> {
        self.interfaces.get(export)
    }
}

impl DispatchInterface {
    fn add<'t>(&mut self, statement: &Statement<'t>, places: &mut Places<'t>) {
        self.body.add(statement, places);
        let Some((names, operation, rest)) = definition(&statement.text) else { return };
        if operation == "hal.interface.binding.subspan" {
            self.subspans.extend(subspan(rest));
        } else if let Some(operation) = known_operation(operation, rest) {
            self.definitions.push(Definition { names, operation });
        }
    }

    /// Where the operation was written whose result the dispatch leaves.
    #[must_use]
    pub fn position(&self) -> Option<&WrittenAt> {
        self.body.result()?.paths.first()?.first()
    }

    /// Where the operations were written that are the dispatch's own work.
    pub fn work(&self) -> impl Iterator<Item = &WrittenAt> {
        let work = self.body.operations().iter().filter(|it| self.body.is_work(it));
        work.flat_map(|it| it.paths.iter().filter_map(|path| path.first()))
    }

    /// The tensors of a dispatch that was given these numbers; those that can be placed.
    #[must_use]
    pub fn operands(&self, constants: &[u32]) -> Vec<DispatchOperand> {
        let mut values: HashMap<&str, u64> = HashMap::new();
        for Definition { names, operation } in &self.definitions {
            let value = |name: &String| values.get(name.as_str()).copied();
            let results: Vec<Option<u64>> = match operation {
                Operation::Constant(ordinal) => {
                    vec![constants.get(*ordinal).copied().map(u64::from)]
                }
                Operation::Literal(literal) => vec![Some(*literal)],
                Operation::Same(operands) => operands.iter().map(value).collect(),
                Operation::Binary(function, left, right) => {
                    vec![value(left).zip(value(right)).map(|(left, right)| function(left, right))]
                }
            };
            let known = names.iter().zip(results);
            values.extend(known.filter_map(|(name, value)| Some((name.as_str(), value?))));
        }
        self.subspans.iter().filter_map(|subspan| subspan.place(&values)).collect()
    }
}

impl Subspan {
    fn place(&self, values: &HashMap<&str, u64>) -> Option<DispatchOperand> {
        let value = |name: &String| values.get(name.as_str()).copied();
        let mut tensor_type = String::new();
        for dimension in &self.dimensions {
            let size = match dimension {
                Dimension::Static(size) => *size,
                Dimension::Dynamic(name) => value(name)?,
            };
            tensor_type += &format!("{size}x");
        }
        tensor_type += &self.element_type;
        let offset = self.offset.as_ref().map_or(Some(0), value)?;
        Some(DispatchOperand { binding: self.binding, offset, tensor_type, access: self.access })
    }
}

fn known_operation(operation: &str, rest: &str) -> Option<Operation> {
    let mut operands = operands(rest);
    Some(match operation {
        "hal.interface.constant.load" => Operation::Constant(match within(rest, "ordinal(", ')') {
            Some(ordinal) => ordinal.parse().ok()?,
            // `hal.interface.constant.load[2]`, until 2024.
            None => rest.split_once(']')?.0.parse().ok()?,
        }),
        "arith.constant" => Operation::Literal(rest.split(' ').next()?.parse().ok()?),
        "arith.index_castui"
        | "arith.index_cast"
        | "arith.extui"
        | "arith.extsi"
        | "arith.trunci"
        | "util.assume.int"
        | "iree_tensor_ext.dispatch.workload.ordinal"
        | "flow.dispatch.workload.ordinal" => Operation::Same(operands.collect()),
        _ => {
            let function: fn(u64, u64) -> u64 = match operation {
                "arith.addi" => u64::wrapping_add,
                "arith.subi" => u64::wrapping_sub,
                "arith.muli" => u64::wrapping_mul,
                "arith.ori" => |left, right| left | right,
                "arith.shli" => |left, right| left.checked_shl(right as u32).unwrap_or(0),
                _ => return None,
            };
            Operation::Binary(function, operands.next()?, operands.next()?)
        }
    })
}

fn subspan(rest: &str) -> Option<Subspan> {
    let (attributes, full_type) = rest.rsplit_once(" : ")?;
    // The layout has bindings too, and comes first.
    let binding = attributes.rsplit_once("binding(")?.1.split_once(')')?.0.parse().ok()?;
    let offset = attributes.rsplit_once("offset(").and_then(|(_, rest)| operands(rest).next());
    let (declared, sizes) = match full_type.split_once(">{") {
        Some((declared, sizes)) => (declared, sizes),
        None => (full_type, ""),
    };
    let (access, shaped) = match declared.split_once("dispatch.tensor<")?.1.split_once(':')? {
        ("readonly", shaped) => (OperandAccess::Read, shaped),
        ("writeonly", shaped) => (OperandAccess::Write, shaped),
        ("readwrite", shaped) => (OperandAccess::ReadWrite, shaped),
        _ => return None,
    };
    let shaped = shaped.strip_prefix("tensor<").unwrap_or(shaped).trim_end_matches('>');
    if shaped.contains(',') {
        // An encoding: the elements lie in an order of its own.
        return None;
    }
    let mut sizes = operands(sizes);
    let mut dimensions = Vec::new();
    let mut element_type = shaped;
    while let Some((size, rest)) = element_type.split_once('x') {
        dimensions.push(match size.parse() {
            Ok(size) => Dimension::Static(size),
            Err(_) if size == "?" => Dimension::Dynamic(sizes.next()?),
            // `complex<f32>` has an x too.
            Err(_) => break,
        });
        element_type = rest;
    }
    let mut element_type = element_type.to_owned();
    if element_type.contains('<') {
        element_type.push('>');
    }
    Some(Subspan { binding, offset, dimensions, element_type, access })
}

fn within<'a>(text: &'a str, start: &str, end: char) -> Option<&'a str> {
    text.split_once(start)?.1.split_once(end).map(|(inner, _)| inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_of_the_module_that_their_heading_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.vmfb");
        let module = FileBytes::from(vec![1; 10_000]);
        let beside = |heading: &str| {
            let text = format!("{heading}\n{TEXT}");
            std::fs::write(DispatchInterfaces::path_beside(&path), text).unwrap();
        };
        let mut other = vec![1; 10_000];
        other[9_000] = 2;
        let other = FileBytes::from(other);
        beside(&DispatchInterfaces::heading(&module).unwrap());
        assert!(DispatchInterfaces::read_beside(&path, &module).is_some());
        assert!(DispatchInterfaces::read_beside(&path, &other).is_none());
        // As it was written before, when only the start of a module was looked at.
        beside(&DispatchInterfaces::former_heading(&module).unwrap());
        assert!(DispatchInterfaces::read_beside(&path, &module).is_some());
        beside("// dispatches of another module");
        assert!(DispatchInterfaces::read_beside(&path, &module).is_none());
    }

    const TEXT: &str = r#"
hal.executable private @e {
  hal.executable.variant public @v target(<"vmvx", "vmvx-bytecode-fb">) {
    builtin.module {
      func.func @static() {
        %0 = hal.interface.constant.load layout(<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>]>) ordinal(1) : i32
        %2 = arith.index_castui %0 : i32 to index
        %4:2 = util.assume.int
            %2[<umin = 64, umax = 128, udiv = 64>, <umin = 64, umax = 64>],
            %2<umin = 0>
          : index, index
        %5 = hal.interface.binding.subspan layout(<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>]>) binding(0) alignment(64) offset(%4#1) flags("ReadOnly|Indirect") : !iree_tensor_ext.dispatch.tensor<readonly:tensor<12x64xf32>>
        %6 = hal.interface.binding.subspan layout(<bindings = []>) binding(3) alignment(64) flags(Indirect) : !iree_tensor_ext.dispatch.tensor<writeonly:tensor<complex<f32>>>
        %7 = hal.interface.binding.subspan layout(<bindings = []>) binding(1) : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<8x8xf32, #encoding>>
        %8 = linalg.generic {iterator_types = ["parallel"]} ins(%5 : tensor<12x64xf32>) outs(%5 : tensor<12x64xf32>) {
        ^bb0(%in: f32 loc("a.mlir":90:1), %out: f32 loc("a.mlir":91:1)):
          %9 = arith.addf %in, %in : f32 loc(callsite("a.mlir":8:10 at "a.mlir":20:3))
          linalg.yield %9 : f32 loc("a.mlir":9:5)
        } -> tensor<12x64xf32> loc(fused["a.mlir":7:8, "b.mlir":1:1])
        iree_tensor_ext.dispatch.tensor.store %8, %6, offsets = [0] : tensor<12x64xf32> -> x loc("a.mlir":30:1)
        return loc("a.mlir":31:1)
      } loc("a.mlir":32:1)
      func.func @dynamic() attributes {x} {
        %c32_i64 = arith.constant 32 : i64
        %0 = hal.interface.constant.load[0] : i32
        %1 = hal.interface.constant.load[1] : i32
        %2 = arith.extui %0 : i32 to i64
        %3 = arith.extui %1 : i32 to i64
        %4 = arith.shli %3, %c32_i64 : i64
        %5 = arith.ori %2, %4 : i64
        %6 = arith.index_castui %5 {stream.values = [1 : i64]} : i64 to index
        %7 = flow.dispatch.workload.ordinal %6, 0 : index
        %8 = hal.interface.binding.subspan set(0) binding(1) type(storage_buffer) alignment(64) offset(%unknown) : !flow.dispatch.tensor<readonly:tensor<4xf32>>
        %9 = hal.interface.binding.subspan set(0) binding(2) type(storage_buffer) alignment(64) : !flow.dispatch.tensor<readwrite:tensor<?x3xbf16>>{%7}
        return
      }
    }
  }
}
"#;

    fn operand(
        binding: usize,
        offset: u64,
        tensor_type: &str,
        access: OperandAccess,
    ) -> DispatchOperand {
        DispatchOperand { binding, offset, tensor_type: tensor_type.to_owned(), access }
    }

    #[test]
    fn tensors_are_placed_by_the_numbers_that_a_dispatch_is_given() {
        let interfaces = DispatchInterfaces::parse(TEXT);
        let of = |name: &str, constants: &[u32]| {
            interfaces.of(name).map(|it| it.operands(constants)).unwrap_or_default()
        };
        let (read, write) = (OperandAccess::Read, OperandAccess::Write);
        assert_eq!(
            of("static", &[7, 128]),
            [operand(0, 128, "12x64xf32", read), operand(3, 0, "complex<f32>", write)]
        );
        // What is not given cannot be placed; the rest can.
        assert_eq!(of("static", &[]), [operand(3, 0, "complex<f32>", write)]);
        assert_eq!(
            of("dynamic", &[5, 1]),
            [operand(2, 0, "4294967301x3xbf16", OperandAccess::ReadWrite)]
        );
        assert!(of("other", &[]).is_empty());
    }

    #[test]
    fn lines_are_those_that_a_dispatch_computes() {
        let interfaces = DispatchInterfaces::parse(TEXT);
        let on = |file, line| interfaces.on_line(file, line).count();
        assert_eq!([7, 8, 9].map(|line| on("a.mlir", line)), [1; 3]);
        assert_eq!([20, 30, 31, 32, 90, 91].map(|line| on("a.mlir", line)), [0; 6]);
        assert_eq!(on("b.mlir", 7), 0);
        let position = interfaces.of("static").and_then(DispatchInterface::position);
        let expected = WrittenAt { file: "a.mlir".to_owned(), line: 7, column: 8 };
        assert_eq!(position, Some(&expected));
    }

    #[test]
    fn names_may_be_quoted() {
        for (symbol, name) in [
            ("@my_model", "my_model"),
            ("@\"my-model\"", "my-model"),
            (
                "@\"Model from PaddlePaddle.$async_dispatch_0\"",
                "Model from PaddlePaddle.$async_dispatch_0",
            ),
            ("@\"a \\\"b\\\\\"", "a \"b\\"),
            ("private @\"x(y\"", "x(y"),
        ] {
            let text = format!(
                "func.func {symbol}() {{\n%0 = hal.interface.binding.subspan layout(<x>) binding(0) : \
                 !flow.dispatch.tensor<readonly:tensor<4xf32>> loc(\"a.mlir\":1:2)\n\
                 %1 = math.exp %0 : f32 loc(\"a.mlir\":3:4)\nreturn\n}}\n"
            );
            let interfaces = DispatchInterfaces::parse(&text);
            assert_eq!(interfaces.names().collect::<Vec<_>>(), [name], "{symbol}");
            assert_eq!(interfaces.of(name).map(|it| it.operands(&[]).len()), Some(1));
            assert_eq!(interfaces.on_line("a.mlir", 3).collect::<Vec<_>>(), [name]);
        }
    }

    #[test]
    fn what_others_share_is_no_work() {
        let text = |stored| {
            format!(
                "func.func @f() {{\n%0 = hal.interface.binding.subspan layout(<x>) binding(0) : \
                 !flow.dispatch.tensor<readonly:tensor<4xf32>>\n\
                 %1 = tensor.empty() : tensor<4xf32> loc(\"a.mlir\":1:1)\n\
                 %2 = linalg.fill ins(%x : f32) outs(%1 : x) -> x loc(\"a.mlir\":2:1)\n\
                 %3 = linalg.matmul ins(%0 : x) outs(%2 : x) -> x loc(\"a.mlir\":3:1)\n\
                 %4 = linalg.generic {{k}} ins(%3 : x) outs(%1 : x) {{\n^bb0(%in: f32):\n\
                 linalg.yield %in : f32 loc(\"a.mlir\":5:1)\n}} -> x loc(\"a.mlir\":4:1)\n\
                 iree_tensor_ext.dispatch.tensor.store %{stored}, %0 : x -> y loc(\"a.mlir\":9:1)\n\
                 return\n}}\n"
            )
        };
        let on = |stored| -> (Vec<u32>, Option<u32>) {
            let interfaces = DispatchInterfaces::parse(&text(stored));
            let lines = (1..10).filter(|line| interfaces.on_line("a.mlir", *line).count() > 0);
            let result = interfaces.of("f").and_then(|it| it.position()).map(|at| at.line);
            (lines.collect(), result)
        };
        assert_eq!(on(4), (vec![3, 4, 5], Some(4)));
        // A dispatch whose result is the fill is about that.
        assert_eq!(on(2), (vec![2, 3, 4, 5], Some(2)));
    }

    #[test]
    fn other_text_is_passed_over() {
        for text in ["", "%", "%4:99999999999 = x", "func.func", "func.func @", "%a = b\n%c\n: d"] {
            assert!(DispatchInterfaces::parse(text).is_empty(), "{text}");
        }
    }
}
