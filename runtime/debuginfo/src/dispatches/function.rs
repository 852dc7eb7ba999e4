//! A dispatch as a function over tensors, from the sources of all dispatches.
//!
//! ```text
//! func.func @main_dispatch_7() {                     func.func @main_dispatch_7(
//!   %0 = hal.interface.binding.subspan …               %operand0: tensor<3x8xf32>)
//!   %1 = hal.interface.binding.subspan …                 -> tensor<3x4xf32> {
//!   %2 = ….dispatch.tensor.load %0, …           =>     %all = flow.dispatch.region -> (…) {
//!   %5 = linalg.matmul ins(%2, …                         %5 = linalg.matmul ins(%operand0, …
//!   ….dispatch.tensor.store %5, %1, …                    flow.return %5 : tensor<3x4xf32>
//! ```
//!
//! The region keeps the compiler from forming other dispatches of the same operations. Tensors that
//! are read are arguments, tensors that are written are results; what a dispatch leaves of the
//! tensor that it writes into is both. The numbers of a call are constants, and shapes that depend
//! on them are static; or they are arguments, and shapes stay dynamic.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::OperandAccess;
use super::function_parts::{
    Slice, SubspanType, aliases_used, drop_unused, function_of, is_arithmetic,
};
use super::interface::{DispatchInterface, TiledOperand};
use super::layouts::Layouts;
use super::no_function::{Incomplete, NoFunction};
use super::statements::{Statement, definition, operands, statements};
use super::twin::renamed;
use crate::mlir_text::LocationReader;

/// What becomes of the numbers of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shapes {
    /// They are constants of the function, so that its shapes are static.
    Filled,
    /// They are arguments of the function, so that its shapes are as dynamic as the dispatch's.
    Kept,
}

/// A dispatch as a function over tensors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DispatchFunction {
    /// Its name, of letters, digits and underscores.
    pub name: String,
    /// The aliases of attributes and locations that it uses, a line each.
    pub aliases: Vec<String>,
    /// Its arguments.
    pub arguments: Vec<FunctionArgument>,
    /// Its results.
    pub results: Vec<FunctionResult>,
    /// Operations before the region, a line each.
    pub before: Vec<String>,
    /// Operations of the region, a line each, without what it returns.
    pub body: Vec<String>,
    /// What the dispatch has and the function does not.
    pub lost: Vec<String>,
}

/// An argument of a dispatch's function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionArgument {
    /// Its name, without the sigil.
    pub name: String,
    /// Its type: `tensor<3x8xf32>`.
    pub written_type: String,
    /// What it is of the dispatch.
    pub origin: ArgumentOrigin,
}

/// What an argument is of the dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgumentOrigin {
    /// A tensor, by its index among the dispatch's operands.
    Operand(usize),
    /// A number of the call, by its ordinal.
    Number(usize),
    /// A value that the dispatch computes, and that the function is given.
    Inner,
}

/// A result of a dispatch's function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionResult {
    /// The tensor, by its index among the dispatch's operands.
    pub operand: usize,
    /// The value that is returned, with its sigil.
    pub value: String,
    /// Its type: `tensor<3x4xf32>`.
    pub written_type: String,
    /// The values of its dynamic sizes, each with its sigil.
    pub sizes: Vec<String>,
}

impl DispatchFunction {
    /// The function of a dispatch, given the numbers of a call of it. `sources` is what
    /// iree-compile prints with `--compile-to=executable-sources`.
    ///
    /// # Errors
    /// The dispatch is not there, or cannot be written as a function; the message says why.
    pub fn of(
        sources: &str,
        export: &str,
        numbers: &[u32],
        shapes: Shapes,
    ) -> Result<Self, NoFunction> {
        Self::with(sources, export, numbers, shapes, Encoded::Refused)
    }

    /// The same, given the numbers of a call, over the tensors that tiles are of: what they hold,
    /// wherever it lies. Such operands come after all others.
    ///
    /// # Errors
    /// As those of [`Self::of`]; or it is not known how an encoded tensor lies.
    pub fn of_values(sources: &str, export: &str, numbers: &[u32]) -> Result<Self, NoFunction> {
        Self::with(sources, export, numbers, Shapes::Filled, Encoded::AsValues)
    }

    fn with(
        sources: &str,
        export: &str,
        numbers: &[u32],
        shapes: Shapes,
        encoded: Encoded,
    ) -> Result<Self, NoFunction> {
        let text = function_of(sources, export)?;
        let mut interface = DispatchInterface::default();
        let mut places = LocationReader::of(text);
        let all: Vec<Statement<'_>> = statements(text).collect();
        for statement in &all {
            interface.add(statement, &mut places);
        }
        let tiled = match encoded {
            Encoded::Refused => None,
            Encoded::AsValues => {
                interface.resolve(&Layouts::of(sources));
                interface.tiled(numbers)
            }
        };
        let mut writer = Writer {
            numbers,
            shapes,
            tiled,
            plain_count: 0,
            tiled_count: 0,
            static_types: interface.types(numbers),
            known: interface.values(numbers),
            renamed: HashMap::new(),
            outside: HashSet::new(),
            tensors: HashMap::new(),
            order: Vec::new(),
            depth: 0,
            arguments: Vec::new(),
            before: Vec::new(),
            body: Vec::new(),
            lost: Vec::new(),
        };
        let [head, rest @ ..] = &all[..] else {
            return Err(NoFunction::Empty { export: export.to_owned() });
        };
        if head.text.contains(" attributes {") {
            writer.lost.push("attributes of the dispatch's function".to_owned());
        }
        for statement in rest {
            if writer.depth == 0 && statement.text.starts_with("return") {
                break;
            }
            writer.add(statement)?;
        }
        writer.finish(sources, export)
    }

    /// Functions that use the aliases, with these: attributes before them, and locations after
    /// them, where they are out of the way.
    #[must_use]
    pub fn module_text(&self, functions: &str) -> String {
        let is_location = |line: &&String| line.starts_with("#loc");
        let attributes = self.aliases.iter().filter(|line| !is_location(line));
        let locations = self.aliases.iter().filter(is_location);
        let lines = attributes.map(String::as_str).chain([functions.trim_end()]);
        let lines = lines.chain(locations.map(String::as_str));
        lines.fold(String::new(), |text, line| text + line + "\n")
    }

    /// Drops the aliases that its operations do not use.
    pub fn drop_unused_aliases(&mut self) {
        let lines = self.before.iter().chain(&self.body).map(String::as_str);
        self.aliases = aliases_used(&self.aliases.join("\n"), lines);
    }

    /// The function as text, without its aliases.
    #[must_use]
    pub fn text(&self) -> String {
        let name = &self.name;
        let written = |it: &FunctionArgument| format!("%{}: {}", it.name, it.written_type);
        let arguments: Vec<String> = self.arguments.iter().map(written).collect();
        let types: Vec<&str> = self.results.iter().map(|it| it.written_type.as_str()).collect();
        let types = types.join(", ");
        let mut text = format!("func.func @{name}({}) -> ({types}) {{\n", arguments.join(", "));
        for line in &self.before {
            let _ = writeln!(text, "  {line}");
        }
        let sized = |it: &FunctionResult| match it.sizes.is_empty() {
            true => it.written_type.clone(),
            false => format!("{}{{{}}}", it.written_type, it.sizes.join(", ")),
        };
        let sized: Vec<String> = self.results.iter().map(sized).collect();
        let count = self.results.len();
        let (left, returned) = match count {
            1 => ("%all".to_owned(), "%all".to_owned()),
            _ => {
                let parts: Vec<String> = (0..count).map(|index| format!("%all#{index}")).collect();
                (format!("%all:{count}"), parts.join(", "))
            }
        };
        let _ = writeln!(text, "  {left} = flow.dispatch.region -> ({}) {{", sized.join(", "));
        for line in &self.body {
            let _ = writeln!(text, "    {line}");
        }
        let values: Vec<&str> = self.results.iter().map(|it| it.value.as_str()).collect();
        let _ = writeln!(text, "    flow.return {} : {types}", values.join(", "));
        let _ = writeln!(text, "  }}\n  return {returned} : {types}\n}}");
        text
    }
}

/// A tensor of the dispatch while its function is written.
struct WrittenTensor {
    operand: usize,
    access: OperandAccess,
    declared: SubspanType,
    static_type: String,
    /// What is in it at this place of the text; `None` as long as nothing was read or written.
    current: Option<String>,
    is_argument: bool,
}

/// What becomes of tensors that lie in an order of the machine's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoded {
    Refused,
    /// They are tensors of what they hold.
    AsValues,
}

struct Writer<'a> {
    numbers: &'a [u32],
    shapes: Shapes,
    /// The encoded tensors, if they may be there.
    tiled: Option<Vec<TiledOperand>>,
    /// How many of each kind were declared so far.
    plain_count: usize,
    tiled_count: usize,
    /// The types of the dispatch's tensors for these numbers.
    static_types: Vec<(String, OperandAccess)>,
    /// The values that these numbers give to others, by name.
    known: HashMap<&'a str, u64>,
    /// Values that have other names in the function, with their sigils.
    renamed: HashMap<String, String>,
    /// Values that are computed before the region.
    outside: HashSet<String>,
    /// By the value that the dispatch has it as.
    tensors: HashMap<String, WrittenTensor>,
    order: Vec<String>,
    depth: usize,
    arguments: Vec<FunctionArgument>,
    before: Vec<String>,
    body: Vec<String>,
    lost: Vec<String>,
}

impl Writer<'_> {
    fn add(&mut self, statement: &Statement<'_>) -> Result<(), NoFunction> {
        let text = statement.text.trim_end();
        let defined = definition(text);
        let operation: &str = match &defined {
            Some((_, operation, _)) => operation,
            None => text.split([' ', '(', '[']).next().unwrap_or(text),
        };
        if operation == "hal.interface.binding.subspan" {
            let (names, _, rest) = defined.as_ref().ok_or(Incomplete::TensorName)?;
            return self.subspan(&names[0], rest);
        }
        if operation.ends_with("dispatch.tensor.load") {
            let (names, _, rest) = defined.as_ref().ok_or(Incomplete::LoadResult)?;
            return self.load(&names[0], rest, statement.location);
        }
        if operation.ends_with("dispatch.tensor.store") {
            return self.store(text, statement.location);
        }
        match (&defined, operation) {
            (Some((names, _, rest)), "hal.interface.constant.load") => {
                self.number(&names[0], rest, statement.location)
            }
            (Some((names, _, rest)), it) if it.ends_with("dispatch.workload.ordinal") => {
                let of = operands(rest).next().ok_or(Incomplete::OrdinalOperand)?;
                self.rename(&names[0], &of);
                Ok(())
            }
            (Some((names, _, rest)), "util.assume.int") if self.shapes == Shapes::Filled => {
                // Of a constant, it would only hide from the compiler that it is one.
                let of: Vec<String> = operands(rest).collect();
                names.iter().zip(of).for_each(|(name, of)| self.rename(name, &of));
                Ok(())
            }
            (_, it) if it.starts_with("hal.") => {
                Err(NoFunction::OtherOperation { operation: it.to_owned() })
            }
            _ => {
                self.keep(text, statement.location);
                Ok(())
            }
        }
    }

    /// An operation that stays as it is.
    fn keep(&mut self, text: &str, location: &str) {
        let line = located(renamed(text, &self.renamed), location);
        if self.depth == 0
            && self.shapes == Shapes::Kept
            && let Some((names, operation, rest)) = definition(text)
            && is_arithmetic(operation, rest)
            && operands(rest).all(|it| self.outside.contains(&self.name_of(&it)))
        {
            self.outside.extend(names);
            self.before.push(line);
            return;
        }
        if self.depth == 0
            && self.shapes == Shapes::Filled
            && let Some((names, _, rest)) = definition(text)
            && let ([name], true) = (&names[..], rest.ends_with(" index"))
            && let Some(value) = self.known.get(name.as_str())
        {
            let line = format!("%{name} = arith.constant {} : index", value.cast_signed());
            self.body.push(located(line, location));
            return;
        }
        if text.starts_with('}') {
            self.depth = self.depth.saturating_sub(1);
        }
        // Blocks begin at the depth of the operation that has them.
        let depth = self.depth - usize::from(text.starts_with('^') && self.depth > 0);
        self.body.push(format!("{}{line}", "  ".repeat(depth)));
        if text.ends_with('{') {
            self.depth += 1;
        }
    }

    /// A number of the call.
    fn number(&mut self, name: &str, rest: &str, location: &str) -> Result<(), NoFunction> {
        let ordinal = super::interface::constant_ordinal(rest);
        let ordinal = ordinal.ok_or_else(|| NoFunction::Number { text: rest.to_owned() })?;
        match self.shapes {
            Shapes::Filled => {
                let number = self.numbers.get(ordinal).ok_or(NoFunction::TooFewNumbers)?;
                let line = format!("%{name} = arith.constant {} : i32", number.cast_signed());
                self.body.push(located(line, location));
            }
            Shapes::Kept => {
                let argument = format!("number{ordinal}");
                if !self.arguments.iter().any(|it| it.name == argument) {
                    self.arguments.push(FunctionArgument {
                        name: argument.clone(),
                        written_type: "i32".to_owned(),
                        origin: ArgumentOrigin::Number(ordinal),
                    });
                }
                self.outside.insert(argument.clone());
                self.rename(name, &argument);
            }
        }
        Ok(())
    }

    /// Gives a value the name of another one, both without sigils.
    fn rename(&mut self, name: &str, of: &str) {
        let of = self.name_of(of);
        self.renamed.insert(format!("%{name}"), format!("%{of}"));
    }

    /// The name of a value in the function, without the sigil.
    fn name_of(&self, name: &str) -> String {
        let known = self.renamed.get(&format!("%{name}"));
        known.map_or(name, |it| it.trim_start_matches('%')).to_owned()
    }

    fn subspan(&mut self, name: &str, rest: &str) -> Result<(), NoFunction> {
        let declared = SubspanType::read(&renamed(rest, &self.renamed))?;
        if declared.is_encoded {
            return self.tiled_subspan(name, declared);
        }
        let operand = self.plain_count;
        self.plain_count += 1;
        let known = self.static_types.get(operand);
        let (shaped, access) = known.ok_or(NoFunction::TypesNotKnown)?;
        let is_kept = self.shapes == Shapes::Kept;
        if !is_kept && shaped.contains('?') {
            return Err(NoFunction::ShapeNotKnown { operand, shape: shaped.clone() });
        }
        let static_type = match is_kept {
            true => declared.written.clone(),
            false => format!("tensor<{shaped}>"),
        };
        let tensor = WrittenTensor {
            operand,
            access: *access,
            static_type,
            declared,
            current: None,
            is_argument: false,
        };
        self.tensors.insert(name.to_owned(), tensor);
        self.order.push(name.to_owned());
        Ok(())
    }

    /// A tensor that lies tile by tile.
    fn tiled_subspan(&mut self, name: &str, declared: SubspanType) -> Result<(), NoFunction> {
        let operand = self.static_types.len() + self.tiled_count;
        let known = self.tiled.as_ref().and_then(|all| all.get(self.tiled_count));
        let Some(tiled) = known else {
            let operand = self.order.len();
            return Err(NoFunction::Encoded { operand, written_type: declared.written });
        };
        let tensor = WrittenTensor {
            operand,
            access: tiled.operand.access,
            static_type: format!("tensor<{}>", tiled.tensor_type),
            declared,
            current: None,
            is_argument: false,
        };
        self.tiled_count += 1;
        self.tensors.insert(name.to_owned(), tensor);
        self.order.push(name.to_owned());
        Ok(())
    }

    /// What is in a tensor at this place of the text.
    fn current(&mut self, tensor: &str) -> Result<(String, SubspanType), NoFunction> {
        let it = self.tensors.get_mut(tensor);
        let it = it.ok_or_else(|| no_tensor(tensor))?;
        if let Some(current) = &it.current {
            return Ok((current.clone(), it.declared.clone()));
        }
        it.is_argument = true;
        let operand = it.operand;
        let argument = format!("%operand{operand}");
        let value = if it.static_type == it.declared.written {
            argument
        } else {
            let value = format!("{argument}_sized");
            let (from, to) = (&it.static_type, &it.declared.written);
            self.body.push(format!("{value} = tensor.cast {argument} : {from} to {to}"));
            value
        };
        it.current = Some(value.clone());
        Ok((value, it.declared.clone()))
    }

    fn load(&mut self, name: &str, rest: &str, location: &str) -> Result<(), NoFunction> {
        if self.depth > 0 {
            return Err(NoFunction::LoadsInside);
        }
        let tensor = operands(rest).next().ok_or(Incomplete::LoadOperand)?;
        let (value, declared) = self.current(&tensor)?;
        let rest = renamed(rest, &self.renamed);
        let slice = Slice::read(&rest)?;
        let (_, loaded) = rest.rsplit_once(" -> ").ok_or(Incomplete::LoadType)?;
        if slice.is_whole(&declared) && loaded == declared.written {
            self.rename(name, value.trim_start_matches('%'));
            return Ok(());
        }
        let line = format!(
            "%{name} = tensor.extract_slice {value}{slice} : {} to {loaded}",
            declared.written
        );
        self.body.push(located(line, location));
        Ok(())
    }

    fn store(&mut self, text: &str, location: &str) -> Result<(), NoFunction> {
        if self.depth > 0 {
            return Err(NoFunction::StoresInside);
        }
        let tensor = operands(text).nth(1).ok_or(Incomplete::StoreTarget)?;
        let text = renamed(text, &self.renamed);
        let stored = operands(&text).next().ok_or(Incomplete::StoreOperand)?;
        let slice = Slice::read(&text)?;
        let typed = text.rsplit_once(" -> ").and_then(|(before, _)| before.rsplit_once(" : "));
        let (_, stored_type) = typed.ok_or(Incomplete::StoreType)?;
        let known = self.tensors.get(&tensor);
        let known = known.ok_or_else(|| no_tensor(&tensor))?;
        // What a tile holds, the declared encoding says, whatever that of the value.
        let is_same_type = stored_type == known.declared.written || known.declared.is_encoded;
        let value = if slice.is_whole(&known.declared) && is_same_type {
            format!("%{stored}")
        } else {
            let (current, declared) = self.current(&tensor)?;
            let value = format!("%stored{}", self.body.len());
            let line = format!(
                "{value} = tensor.insert_slice %{stored} into {current}{slice} : {stored_type} \
                 into {}",
                declared.written
            );
            self.body.push(located(line, location));
            value
        };
        if let Some(it) = self.tensors.get_mut(&tensor) {
            it.current = Some(value);
        }
        Ok(())
    }

    fn finish(mut self, sources: &str, export: &str) -> Result<DispatchFunction, NoFunction> {
        let mut arguments = Vec::new();
        let mut results = Vec::new();
        for name in &self.order {
            let Some(tensor) = self.tensors.get(name) else { continue };
            if tensor.is_argument {
                arguments.push(FunctionArgument {
                    name: format!("operand{}", tensor.operand),
                    written_type: tensor.static_type.clone(),
                    origin: ArgumentOrigin::Operand(tensor.operand),
                });
            }
            if tensor.access == OperandAccess::Read {
                continue;
            }
            let Some(current) = &tensor.current else { continue };
            let mut value = current.clone();
            if tensor.static_type != tensor.declared.written {
                value = format!("%result{}", tensor.operand);
                let (from, to) = (&tensor.declared.written, &tensor.static_type);
                self.body.push(format!("{value} = tensor.cast {current} : {from} to {to}"));
            }
            let sizes = match self.shapes {
                Shapes::Filled => Vec::new(),
                Shapes::Kept => tensor.declared.sizes.clone(),
            };
            if let Some(inner) = sizes.iter().find(|it| !self.outside.contains(&it[1..])) {
                return Err(NoFunction::ComputedSize { size: inner.clone() });
            }
            let (operand, written_type) = (tensor.operand, tensor.static_type.clone());
            results.push(FunctionResult { operand, value, written_type, sizes });
        }
        if results.is_empty() {
            return Err(NoFunction::NoResult { export: export.to_owned() });
        }
        arguments.append(&mut self.arguments);
        let name: String =
            export.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
        let returned = results.iter().flat_map(|it| it.sizes.iter().chain([&it.value]));
        let mut used: HashSet<String> = returned.cloned().collect();
        drop_unused(&mut self.body, &mut used);
        drop_unused(&mut self.before, &mut used);
        let lines = self.before.iter().chain(&self.body).map(String::as_str);
        Ok(DispatchFunction {
            name,
            aliases: aliases_used(sources, lines),
            arguments,
            results,
            before: self.before,
            body: self.body,
            lost: self.lost,
        })
    }
}

fn no_tensor(value: &str) -> NoFunction {
    NoFunction::NoTensor { value: value.to_owned() }
}

/// An operation with its location, if that is known.
fn located(mut line: String, location: &str) -> String {
    if !location.is_empty() && !line.ends_with('{') {
        line.push(' ');
        line.push_str(location);
    }
    line
}
