//! The source operations that each call of a dispatch stands for.
//!
//! The compiler merges equal dispatches into one, which keeps the locations of its first user: in a
//! transformer, of layer 1. Before it does so, right after the pass that outlines dispatches, each
//! call has a dispatch of its own with its own locations. Equal dispatches have the same operations
//! in the same order, so that text tells, for each operation of the shared dispatch, which
//! operation it is in each layer.
//!
//! The result is kept with the sources of dispatches, a few lines per call:
//!
//! ```text
//! // call @"main_dispatch_0_matmul_8x16x16_f32" at "a.mlir":50:11 at "a.mlir":3:1
//! //   "a.mlir":10:11 at "a.mlir":3:1 is "a.mlir":50:11 at "a.mlir":3:1
//! //   "a.mlir":9:11 at "a.mlir":3:1 is "a.mlir":49:11 at "a.mlir":3:1, not its work
//! ```

use std::collections::HashMap;
use std::fmt::Write as _;

use super::body::DispatchBody;
use super::statements::{definition, statements, symbol};
use crate::mlir_text::Cursor;
use crate::mlir_text::{CallChain, LocationReader, NamedPosition};

/// The pass after which each call has a dispatch of its own.
pub(crate) const OUTLINING_PASS: &str = "iree-flow-outline-dispatch-regions";

const CALL: &str = "// call @";
const OPERATION: &str = "//   ";
const NOT_WORK: &str = ", not its work";

/// A call of a dispatch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DispatchCall {
    /// The exported name of the shared dispatch, which runs.
    pub export: String,
    /// The call chain of the call.
    pub path: CallChain,
    operations: Vec<CalledOperation>,
}

/// An operation of the shared dispatch, and the operation that it stands for in this call.
#[derive(Clone, PartialEq, Eq, Debug)]
struct CalledOperation {
    shared: CallChain,
    own: CallChain,
    is_work: bool,
}

impl DispatchCall {
    /// The call chains of the operations that this call computes.
    pub fn work(&self) -> impl Iterator<Item = &CallChain> {
        self.operations.iter().filter(|it| it.is_work).map(|it| &it.own)
    }

    /// Whether this call computes an operation of a line.
    #[must_use]
    pub fn is_on_line(&self, file: &str, line: u32) -> bool {
        self.work().any(|path| is_on(path, file, line))
    }

    /// Whether the shared dispatch was made from this very call.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.operations.iter().all(|it| it.shared == it.own)
    }

    /// The operation that an operation of the shared dispatch stands for in this call, if it is
    /// unambiguous. A constant that calls share has one place in all of them, which may be that of
    /// an operation: what is computed counts.
    #[must_use]
    pub fn own(&self, shared: &NamedPosition) -> Option<&CallChain> {
        let at = || self.operations.iter().filter(|it| it.shared.first() == Some(shared));
        let has_work = at().any(|it| it.is_work);
        let mut found = at().filter(|it| it.is_work == has_work).map(|it| &it.own);
        let first = found.next()?;
        found.all(|other| other.first() == first.first()).then_some(first)
    }

    /// The operations of the shared dispatch that stand for operations on a line in this call.
    pub fn shared_on_line(&self, file: &str, line: u32) -> impl Iterator<Item = &NamedPosition> {
        let is_here = move |it: &&CalledOperation| it.is_work && is_on(&it.own, file, line);
        self.operations.iter().filter(is_here).filter_map(|it| it.shared.first())
    }

    /// Reads the lines that [`written`] makes, which come first in the text.
    pub(crate) fn parse(text: &str) -> Vec<Self> {
        let mut calls: Vec<Self> = Vec::new();
        for line in text.lines().take_while(|line| line.starts_with("//")) {
            if line.starts_with(CALL) {
                calls.extend(read_call(line));
            } else if let (Some(operation), Some(call)) =
                (line.strip_prefix(OPERATION), calls.last_mut())
            {
                call.operations.extend(read_operation(operation));
            }
        }
        calls
    }
}

fn is_on(path: &CallChain, file: &str, line: u32) -> bool {
    path.first().is_some_and(|at| at.line == line && at.file == file)
}

/// The calls as lines of text, from the compiler's text after [`OUTLINING_PASS`] and the final
/// names of dispatches.
pub(crate) fn written<'n>(outlined: &str, exports: impl Iterator<Item = &'n str>) -> String {
    let outlined = Outlined::parse(outlined);
    let exports: Vec<&str> = exports.collect();
    let mut text = String::new();
    for (name, path) in &outlined.calls {
        let Some(call) = outlined.call(name, path, &exports) else { continue };
        let export = escaped(&call.export);
        let _ = writeln!(text, "{CALL}\"{export}\" at {}", path_text(&call.path));
        for operation in &call.operations {
            let (shared, own) = (path_text(&operation.shared), path_text(&operation.own));
            let note = if operation.is_work { "" } else { NOT_WORK };
            let _ = writeln!(text, "{OPERATION}{shared} is {own}{note}");
        }
    }
    text
}

/// The contents of the compiler's text after [`OUTLINING_PASS`].
#[derive(Default)]
struct Outlined {
    bodies: HashMap<String, Body>,
    /// The calls, each with the name of its own dispatch.
    calls: Vec<(String, CallChain)>,
    /// The names of dispatches by their text; equal ones in the order of the compiler's output.
    equal: HashMap<String, Vec<String>>,
}

#[derive(Default)]
struct Body {
    operations: DispatchBody,
    /// Its text without locations and its own name. Dispatches with equal texts are merged.
    text: String,
}

impl Outlined {
    fn parse(text: &str) -> Self {
        let mut outlined = Self::default();
        let mut places = LocationReader::of(text);
        let mut current: Option<(String, Body)> = None;
        for statement in statements(text) {
            let line = statement.text.trim_end();
            if let Some((name, rest)) = line.strip_prefix("func.func ").and_then(symbol) {
                current = Some((name, Body { text: rest.to_owned(), ..Body::default() }));
            } else if let Some((_, body)) = &mut current {
                body.operations.add(&statement, &mut places);
                body.text.push('\n');
                body.text.push_str(line);
                if line.starts_with("return") {
                    outlined.end(current.take());
                }
            } else if let Some(name) = dispatched(line)
                && let Some(path) = places.paths_of(statement.location).into_iter().next()
            {
                outlined.calls.push((name, path));
            }
        }
        outlined
    }

    fn end(&mut self, body: Option<(String, Body)>) {
        let Some((name, body)) = body else { return };
        self.equal.entry(body.text.clone()).or_default().push(name.clone());
        self.bodies.insert(name, body);
    }

    /// A call, with the dispatch that remains of those equal to its own.
    fn call(&self, name: &str, path: &CallChain, exports: &[&str]) -> Option<DispatchCall> {
        let own = self.bodies.get(name)?;
        let mut equal = self.equal.get(&own.text)?.iter();
        let (shared, export) = equal.find_map(|name| Some((name, export_of(name, exports)?)))?;
        let shared = self.bodies.get(shared)?.operations.operations();
        let operations = own.operations.operations();
        if shared.len() != operations.len() {
            return None;
        }
        let mut called = Vec::new();
        for (theirs, ours) in shared.iter().zip(operations) {
            let is_work = own.operations.is_work(ours);
            // Fused operations have their parts in the same order, too.
            for (shared, own) in theirs.paths.iter().zip(&ours.paths) {
                let (shared, own) = (shared.clone(), own.clone());
                let operation = CalledOperation { shared, own, is_work };
                if !called.contains(&operation) {
                    called.push(operation);
                }
            }
        }
        let (export, path) = (export.to_owned(), path.clone());
        Some(DispatchCall { export, path, operations: called })
    }
}

/// The dispatch that a statement calls: `… = flow.dispatch @executable::@name(…)`.
fn dispatched(line: &str) -> Option<String> {
    let operation = match definition(line) {
        Some((_, operation, rest)) => (operation == "flow.dispatch").then_some(rest)?,
        None => line.strip_prefix("flow.dispatch ")?,
    };
    let (_, rest) = symbol(operation)?;
    Some(symbol(rest.strip_prefix("::")?)?.0)
}

/// The final name of a dispatch: the compiler appends a description to the first name.
fn export_of<'n>(name: &str, exports: &[&'n str]) -> Option<&'n str> {
    let begins = |export: &&&str| {
        let rest = export.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    exports.iter().filter(begins).min_by_key(|export| export.len()).copied()
}

fn path_text(path: &CallChain) -> String {
    let place = |at: &NamedPosition| format!("\"{}\":{}:{}", escaped(&at.file), at.line, at.column);
    path.iter().map(place).collect::<Vec<_>>().join(" at ")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn read_call(line: &str) -> Option<DispatchCall> {
    let mut cursor = Cursor::new(line.as_bytes());
    cursor.jump(CALL.len());
    let export = cursor.string().ok()?.into_owned();
    let path = if cursor.eat(b" at ") { read_path(&mut cursor)? } else { return None };
    Some(DispatchCall { export, path, operations: Vec::new() })
}

fn read_operation(text: &str) -> Option<CalledOperation> {
    let mut cursor = Cursor::new(text.as_bytes());
    let shared = read_path(&mut cursor)?;
    let own = if cursor.eat(b" is ") { read_path(&mut cursor)? } else { return None };
    Some(CalledOperation { shared, own, is_work: !cursor.eat(NOT_WORK.as_bytes()) })
}

fn read_path(cursor: &mut Cursor<'_>) -> Option<CallChain> {
    let mut path = Vec::new();
    loop {
        let file = cursor.string().ok()?.into_owned();
        let mut number = || if cursor.eat(b":") { cursor.number().ok() } else { None };
        let (line, column) = (number()?, number()?);
        path.push(NamedPosition { file, line, column });
        if !cursor.eat(b" at ") {
            return Some(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two calls whose dispatches will be merged.
    #[rustfmt::skip] // text as the compiler prints it
    const OUTLINED: &str = r##"// -----// IR Dump After OutlineDispatchRegionsPass //----- //
#loc1 = loc("a.mlir":3:1)
#loc2 = loc("a.mlir":10:8)
#loc3 = loc(callsite(#loc2 at #loc1))
module {
  flow.executable private @"my model_dispatch_0" {
    builtin.module {
      func.func @"my model_dispatch_0"(%arg0: !x loc("a.mlir":3:1), %arg1: !x loc(#loc1)) {
        %cst = arith.constant 0.0 : f32 loc(#loc4)
        %0 = iree_tensor_ext.dispatch.tensor.load %arg0, offsets = [0] : !x -> tensor<4xf32> loc(#loc3)
        %1 = tensor.empty() : tensor<4xf32> loc("a.mlir":8:8)
        %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":9:8)
        %3 = linalg.generic {x} ins(%0 : tensor<4xf32>) outs(%2 : tensor<4xf32>) {
        ^bb0(%in: f32 loc("a.mlir":11:5), %out: f32 loc("a.mlir":11:9)):
          %5 = math.exp %in : f32 loc("a.mlir":12:5)
          linalg.yield %5 : f32 loc("a.mlir":13:5)
        } -> tensor<4xf32> loc(#loc3)
        iree_tensor_ext.dispatch.tensor.store %3, %arg1, offsets = [0] : tensor<4xf32> -> !x loc(#loc3)
        return loc(#loc3)
      } loc(#loc3)
    } loc(#loc3)
  } loc(#loc3)
  flow.executable private @"my model_dispatch_1" {
    builtin.module {
      func.func @"my model_dispatch_1"(%arg0: !x loc("a.mlir":3:1), %arg1: !x loc(#loc1)) {
        %cst = arith.constant 0.0 : f32 loc(#loc4)
        %0 = iree_tensor_ext.dispatch.tensor.load %arg0, offsets = [0] : !x -> tensor<4xf32> loc("a.mlir":20:8)
        %1 = tensor.empty() : tensor<4xf32> loc("a.mlir":8:8)
        %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":19:8)
        %3 = linalg.generic {x} ins(%0 : tensor<4xf32>) outs(%2 : tensor<4xf32>) {
        ^bb0(%in: f32 loc("a.mlir":21:5), %out: f32 loc("a.mlir":21:9)):
          %5 = math.exp %in : f32 loc("a.mlir":22:5)
          linalg.yield %5 : f32 loc("a.mlir":23:5)
        } -> tensor<4xf32> loc("a.mlir":20:8)
        iree_tensor_ext.dispatch.tensor.store %3, %arg1, offsets = [0] : tensor<4xf32> -> !x loc("a.mlir":20:8)
        return loc("a.mlir":20:8)
      } loc("a.mlir":20:8)
    } loc("a.mlir":20:8)
  } loc("a.mlir":20:8)
  util.func public @"my model"(%arg0: !hal.buffer_view loc("a.mlir":3:1)) {
    %0 = flow.dispatch @"my model_dispatch_0"::@"my model_dispatch_0"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc(#loc3)
    %1 = flow.dispatch @"my model_dispatch_1"::@"my model_dispatch_1"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":20:8)
    util.return loc(#loc1)
  } loc(#loc1)
} loc(#loc)
#loc4 = loc("a.mlir":4:8)
"##;

    #[test]
    fn calls_of_a_shared_dispatch_have_lines_of_their_own() {
        let exports = ["my model_dispatch_0_elementwise_4_f32", "my model_dispatch_00"];
        let text = written(OUTLINED, exports.into_iter());
        let calls = DispatchCall::parse(&text);
        let at = |line, column| NamedPosition { file: "a.mlir".to_owned(), line, column };
        assert_eq!(calls.len(), 2, "{text}");
        assert_eq!(calls[0].path, [at(10, 8), at(3, 1)]);
        assert_eq!(calls[1].path, [at(20, 8)]);
        assert!(calls.iter().all(|call| call.export == exports[0]));
        let lines = |call: &DispatchCall| -> Vec<u32> {
            (1..40).filter(|line| call.is_on_line("a.mlir", *line)).collect()
        };
        assert_eq!(lines(&calls[0]), [10, 12, 13]);
        assert_eq!(lines(&calls[1]), [20, 22, 23]);
        assert_eq!(calls[1].own(&at(12, 5)), Some(&vec![at(22, 5)]));
        assert_eq!(calls[1].own(&at(9, 8)), Some(&vec![at(19, 8)]));
        assert_eq!(calls[1].own(&at(22, 5)), None);
        assert_eq!(calls[1].shared_on_line("a.mlir", 22).collect::<Vec<_>>(), [&at(12, 5)]);
        assert_eq!(DispatchCall::parse(&format!("{text}hal.executable")), calls);
    }

    #[test]
    fn damaged_lines_are_passed_over() {
        for text in [
            "// call @",
            "// call @\"x",
            "// call @\"x\" at \"y\":1",
            "//   \"x\"",
            "// call @\"x\" at",
        ] {
            assert_eq!(DispatchCall::parse(text), [], "{text}");
        }
    }
}
