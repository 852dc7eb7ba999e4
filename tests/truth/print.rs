//! Prints a program as text, and numbers its operations and lines.

use std::fmt::Write;

use crate::program::{
    Binary, Block, Cast, Dialect, Function, Id, Kind, Operation, Predicate, Program, Type, Value,
    Variable,
};

struct Printer<'a> {
    text: String,
    line: u32,
    number: usize,
    dialect: Dialect,
    /// The names and results of all functions.
    signatures: &'a [Signature],
    globals: &'a [(String, Type)],
    /// The values of the current function.
    values: Vec<Variable>,
}

struct Signature {
    name: String,
    parameters: Vec<Type>,
    results: Vec<Type>,
}

/// Prints a program. Afterwards its operations know their lines.
pub(crate) fn print(program: &mut Program) -> String {
    let signatures: Vec<Signature> = program.functions.iter().map(signature).collect();
    let globals: Vec<(String, Type)> =
        program.globals.iter().map(|it| (it.name.clone(), it.kind)).collect();
    let mut printer = Printer {
        text: String::new(),
        line: 1,
        number: 0,
        dialect: program.dialect,
        signatures: &signatures,
        globals: &globals,
        values: Vec::new(),
    };
    if program
        .functions
        .iter()
        .any(|it| it.operations().iter().any(|it| matches!(it.kind, Kind::Generic)))
    {
        printer.write(0, "#whole = affine_map<(d0, d1) -> (d0, d1)>");
        printer.write(0, "#rows = affine_map<(d0, d1) -> (d0)>");
        printer.write(0, "#one = affine_map<(d0) -> (d0)>");
    }
    let name = program.name.as_ref().map_or(String::new(), |name| format!("@{name} "));
    printer.write(0, &format!("module {name}{{"));
    for global in &program.globals {
        let (name, initial, kind) = (&global.name, global.initial, global.kind.text());
        printer.write(1, &format!("util.global private mutable @{name} = {initial} : {kind}"));
    }
    for function in &mut program.functions {
        printer.values.clone_from(&function.values);
        printer.number = 0;
        printer.function(function);
    }
    printer.write(0, "}");
    printer.text
}

fn signature(function: &Function) -> Signature {
    Signature {
        name: symbol(&function.name),
        parameters: function.parameters().iter().map(|id| function.kind(*id)).collect(),
        results: function.results.clone(),
    }
}

/// A symbol without `@`, quoted where it must be.
fn symbol(name: &str) -> String {
    let is_plain = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    if is_plain { name.to_owned() } else { format!("\"{name}\"") }
}

fn types(kinds: impl IntoIterator<Item = Type>) -> String {
    kinds.into_iter().map(Type::text).collect::<Vec<_>>().join(", ")
}

impl Printer<'_> {
    fn write(&mut self, indentation: usize, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", indentation * 2);
        self.line += 1;
    }

    fn name(&self, id: Id) -> &str {
        &self.values[id].name
    }

    fn names(&self, ids: &[Id]) -> String {
        ids.iter().map(|id| self.name(*id)).collect::<Vec<_>>().join(", ")
    }

    fn kind(&self, id: Id) -> &'static str {
        self.values[id].kind.text()
    }

    fn types(&self, ids: &[Id]) -> String {
        types(ids.iter().map(|id| self.values[*id].kind))
    }

    fn typed(&self, ids: &[Id]) -> String {
        let all = ids.iter().map(|id| format!("{}: {}", self.name(*id), self.kind(*id)));
        all.collect::<Vec<_>>().join(", ")
    }

    fn function(&mut self, function: &mut Function) {
        let operation = match self.dialect {
            Dialect::Util => "util.func",
            Dialect::Func => "func.func",
        };
        let visibility = if function.is_public { "public" } else { "private" };
        let name = symbol(&function.name);
        let parameters = self.typed(function.parameters());
        let results = match function.results.len() {
            0 => String::new(),
            _ => format!(" -> ({})", types(function.results.iter().copied())),
        };
        let attributes = match (function.is_kept, self.dialect) {
            (false, _) => "",
            (true, Dialect::Util) => " attributes {inlining_policy = #util.inline.never}",
            (true, Dialect::Func) => " attributes {noinline}",
        };
        function.line = self.line;
        self.write(
            1,
            &format!("{operation} {visibility} @{name}({parameters}){results}{attributes} {{"),
        );
        for (index, block) in function.blocks.iter_mut().enumerate() {
            if index > 0 {
                self.label(1, index, block);
            }
            self.block(2, block);
        }
        self.write(1, "}");
    }

    fn label(&mut self, indentation: usize, index: usize, block: &Block) {
        let arguments = match block.arguments.len() {
            0 => String::new(),
            _ => format!("({})", self.typed(&block.arguments)),
        };
        self.write(indentation, &format!("^bb{index}{arguments}:"));
    }

    fn block(&mut self, indentation: usize, block: &mut Block) {
        for operation in &mut block.operations {
            self.number += 1;
            operation.number = self.number;
            if operation.joins && operation.regions.is_empty() && self.text.ends_with('\n') {
                self.text.pop();
                self.text.push(' ');
                self.line -= 1;
                operation.line = self.line;
                self.operation(0, operation);
            } else {
                operation.joins = false;
                operation.line = self.line;
                self.operation(indentation, operation);
            }
        }
    }

    /// The text before the operation: `%a = `, `%r:2 = `.
    fn results(&self, operation: &Operation) -> String {
        match operation.results.as_slice() {
            [] => String::new(),
            [first, ..] => match self.name(*first).split_once('#') {
                None => format!("{} = ", self.name(*first)),
                Some((name, _)) => format!("{name}:{} = ", operation.results.len()),
            },
        }
    }

    fn operation(&mut self, indentation: usize, operation: &mut Operation) {
        let head = self.results(operation);
        match operation.kind {
            Kind::For => {
                let [lower, upper, step] =
                    [0, 1, 2].map(|index| self.name(operation.operands[index]));
                let body = &operation.regions[0].arguments;
                let counter = self.name(body[0]);
                let mut text = format!("{head}scf.for {counter} = {lower} to {upper} step {step}");
                if operation.operands.len() > 3 {
                    let carried = body[1..].iter().zip(&operation.operands[3..]);
                    let pairs = carried
                        .map(|(to, from)| format!("{} = {}", self.name(*to), self.name(*from)));
                    let pairs = pairs.collect::<Vec<_>>().join(", ");
                    let kinds = self.types(&operation.results);
                    let _ = write!(text, " iter_args({pairs}) -> ({kinds})");
                }
                self.write(indentation, &(text + " {"));
                self.block(indentation + 1, &mut operation.regions[0]);
                self.write(indentation, "}");
            }
            Kind::If => {
                let condition = self.name(operation.operands[0]);
                let kinds = match operation.results.len() {
                    0 => String::new(),
                    _ => format!(" -> ({})", self.types(&operation.results)),
                };
                self.write(indentation, &format!("{head}scf.if {condition}{kinds} {{"));
                self.block(indentation + 1, &mut operation.regions[0]);
                if let Some(otherwise) = operation.regions.get_mut(1) {
                    self.write(indentation, "} else {");
                    self.block(indentation + 1, otherwise);
                }
                self.write(indentation, "}");
            }
            Kind::While => {
                let before = &operation.regions[0].arguments;
                let pairs = before.iter().zip(&operation.operands);
                let pairs =
                    pairs.map(|(to, from)| format!("{} = {}", self.name(*to), self.name(*from)));
                let pairs = pairs.collect::<Vec<_>>().join(", ");
                let (from, to) = (self.types(before), self.types(&operation.results));
                let text = format!("{head}scf.while ({pairs}) : ({from}) -> ({to}) {{");
                self.write(indentation, &text);
                self.block(indentation + 1, &mut operation.regions[0]);
                self.write(indentation, "} do {");
                let after = &mut operation.regions[1];
                self.label(indentation, 0, after);
                self.block(indentation + 1, after);
                self.write(indentation, "}");
            }
            Kind::Generic => {
                let text = format!("{head}{} {{", self.generic(operation));
                let result = self.kind(operation.results[0]);
                self.write(indentation, &text);
                self.label(indentation, 0, &operation.regions[0]);
                self.block(indentation + 1, &mut operation.regions[0]);
                self.write(indentation, &format!("}} -> {result}"));
            }
            _ => {
                let text = format!("{head}{}", self.simple(operation));
                self.write(indentation, &text);
            }
        }
    }

    /// A `linalg.generic` up to its region.
    fn generic(&self, operation: &Operation) -> String {
        let rank = |id: &Id| match self.values[*id].kind {
            Type::Tensor(_, 0) => 1,
            _ => 2,
        };
        let ranks: Vec<usize> = operation.operands.iter().map(rank).collect();
        let most = ranks.iter().copied().max().unwrap_or(1);
        let map = |rank: &usize| match (most, *rank) {
            (1, _) => "#one",
            (_, 1) => "#rows",
            _ => "#whole",
        };
        let maps = ranks.iter().map(map).collect::<Vec<_>>().join(", ");
        let (inputs, output) = operation.operands.split_at(operation.operands.len() - 1);
        let iterators = match (most, rank(&output[0])) {
            (1, _) => "\"parallel\"",
            (_, 1) => "\"parallel\", \"reduction\"",
            _ => "\"parallel\", \"parallel\"",
        };
        format!(
            "linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} \
             ins({} : {}) outs({} : {})",
            self.names(inputs),
            self.types(inputs),
            self.names(output),
            self.types(output)
        )
    }

    /// An operation without regions.
    fn simple(&self, operation: &Operation) -> String {
        let operands = &operation.operands;
        let all = self.names(operands);
        let name = |index: usize| self.name(operands[index]);
        let result = || self.kind(operation.results[0]);
        match operation.kind {
            Kind::Constant(value) => self.constant(value, operation.results[0]),
            Kind::Binary(binary) => {
                let is_float = matches!(self.values[operands[0]].kind, Type::F32 | Type::F64);
                format!("arith.{} {all} : {}", binary_name(binary, is_float), result())
            }
            Kind::NegateFloat => format!("arith.negf {all} : {}", result()),
            Kind::Compare(predicate) => {
                let is_float = matches!(self.values[operands[0]].kind, Type::F32 | Type::F64);
                let (operation, predicate) = predicate_name(predicate, is_float);
                format!("arith.{operation} {predicate}, {all} : {}", self.kind(operands[0]))
            }
            Kind::AbsoluteFloat => format!("math.absf {all} : {}", result()),
            Kind::Select => format!("arith.select {all} : {}", result()),
            Kind::Cast(cast) => {
                let cast = match cast {
                    Cast::Index => "index_cast",
                    Cast::ExtendSigned => "extsi",
                    Cast::ExtendUnsigned => "extui",
                    Cast::Truncate => "trunci",
                    Cast::ToFloat => "sitofp",
                };
                format!("arith.{cast} {all} : {} to {}", self.kind(operands[0]), result())
            }
            Kind::Yield if operands.is_empty() => "scf.yield".to_owned(),
            Kind::Yield => format!("scf.yield {all} : {}", self.types(operands)),
            Kind::Condition => {
                let passed = &operands[1..];
                let (names, kinds) = (self.names(passed), self.types(passed));
                format!("scf.condition({}) {names} : {kinds}", name(0))
            }
            Kind::Call(callee) => {
                let callee = &self.signatures[callee];
                let from = types(callee.parameters.iter().copied());
                let to = types(callee.results.iter().copied());
                let to = if callee.results.len() == 1 { to } else { format!("({to})") };
                let call = match self.dialect {
                    Dialect::Util => "util.call",
                    Dialect::Func => "func.call",
                };
                format!("{call} @{}({all}) : ({from}) -> {to}", callee.name)
            }
            Kind::Load(global) => {
                let (name, kind) = &self.globals[global];
                format!("util.global.load @{name} : {}", kind.text())
            }
            Kind::Store(global) => {
                let (name, kind) = &self.globals[global];
                format!("util.global.store {all}, @{name} : {}", kind.text())
            }
            Kind::ListCreate => format!("util.list.create {all} : !util.list<i64>"),
            Kind::ListResize => format!("util.list.resize {all} : !util.list<i64>"),
            Kind::ListGet => format!("util.list.get {}[{}] : !util.list<i64>", name(0), name(1)),
            Kind::ListSet => {
                format!("util.list.set {}[{}], {} : !util.list<i64>", name(0), name(1), name(2))
            }
            Kind::ListSize => format!("util.list.size {all} : !util.list<i64>"),
            Kind::Branch(target) => format!("cf.br {}", self.target(target, operands)),
            Kind::BranchIf(yes, no, count) => {
                let (first, second) = operands[1..].split_at(count);
                let (yes, no) = (self.target(yes, first), self.target(no, second));
                format!("cf.cond_br {}, {yes}, {no}", name(0))
            }
            Kind::Return => {
                let word = match self.dialect {
                    Dialect::Util => "util.return",
                    Dialect::Func => "return",
                };
                if operands.is_empty() {
                    return word.to_owned();
                }
                format!("{word} {all} : {}", self.types(operands))
            }
            Kind::TensorEmpty => format!("tensor.empty() : {}", result()),
            Kind::Fill | Kind::MatrixProduct => {
                let word = if matches!(operation.kind, Kind::Fill) { "fill" } else { "matmul" };
                let (inputs, output) = operands.split_at(operands.len() - 1);
                let (ins, outs) = (self.names(inputs), self.names(output));
                let (of_ins, of_outs) = (self.types(inputs), self.types(output));
                format!(
                    "linalg.{word} ins({ins} : {of_ins}) outs({outs} : {of_outs}) -> {}",
                    result()
                )
            }
            Kind::ElementYield => format!("linalg.yield {all} : {}", self.types(operands)),
            Kind::Extract => {
                let indices = self.names(&operands[1..]);
                format!("tensor.extract {}[{indices}] : {}", name(0), self.kind(operands[0]))
            }
            Kind::Dimension => format!("tensor.dim {all} : {}", self.kind(operands[0])),
            Kind::For | Kind::If | Kind::While | Kind::Generic => unreachable!("it has regions"),
        }
    }

    fn target(&self, block: usize, operands: &[Id]) -> String {
        match operands {
            [] => format!("^bb{block}"),
            _ => format!("^bb{block}({} : {})", self.names(operands), self.types(operands)),
        }
    }

    fn constant(&self, value: Value, result: Id) -> String {
        match (value, self.values[result].kind) {
            (Value::Integer(value), Type::I1) => format!("arith.constant {}", value != 0),
            (Value::Integer(value), kind) => format!("arith.constant {value} : {}", kind.text()),
            (Value::F32(value), kind) if value.is_finite() => {
                format!("arith.constant {} : {}", decimal(format!("{value:?}")), kind.text())
            }
            (Value::F64(value), kind) if value.is_finite() => {
                format!("arith.constant {} : {}", decimal(format!("{value:?}")), kind.text())
            }
            (Value::F32(value), kind) => {
                format!("arith.constant 0x{:X} : {}", value.to_bits(), kind.text())
            }
            (Value::F64(value), kind) => {
                format!("arith.constant 0x{:X} : {}", value.to_bits(), kind.text())
            }
            (Value::List(_) | Value::Tensor(_), _) => unreachable!("these are no constants"),
        }
    }
}

/// A finite float as MLIR spells it: there is always a point, also before an exponent.
fn decimal(text: String) -> String {
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

fn binary_name(binary: Binary, is_float: bool) -> &'static str {
    match (binary, is_float) {
        (Binary::Add, true) => "addf",
        (Binary::Subtract, true) => "subf",
        (Binary::Multiply, true) => "mulf",
        (Binary::Add, false) => "addi",
        (Binary::Subtract, false) => "subi",
        (Binary::Multiply, false) => "muli",
        (Binary::And, _) => "andi",
        (Binary::Or, _) => "ori",
        (Binary::Xor, _) => "xori",
        (Binary::ShiftLeft, _) => "shli",
        (Binary::ShiftRightSigned, _) => "shrsi",
        (Binary::ShiftRightUnsigned, _) => "shrui",
        (Binary::DivideUnsigned, _) => "divui",
        (Binary::RemainderUnsigned, _) => "remui",
        (Binary::DivideSigned, _) => "divsi",
        (Binary::MaximumSigned, _) => "maxsi",
        (Binary::MinimumUnsigned, _) => "minui",
        (Binary::MaximumFloat, _) => "maximumf",
        (Binary::MinimumFloat, _) => "minimumf",
    }
}

fn predicate_name(predicate: Predicate, is_float: bool) -> (&'static str, &'static str) {
    if is_float {
        let name = match predicate {
            Predicate::Equal => "oeq",
            Predicate::NotEqual => "une",
            Predicate::LessOrEqual => "ole",
            Predicate::Greater => "ogt",
            Predicate::Less | Predicate::LessUnsigned => "olt",
            Predicate::GreaterOrEqualUnsigned => "oge",
            Predicate::Unordered => "uno",
        };
        return ("cmpf", name);
    }
    let name = match predicate {
        Predicate::Equal => "eq",
        Predicate::NotEqual => "ne",
        Predicate::Less => "slt",
        Predicate::LessOrEqual => "sle",
        Predicate::Greater => "sgt",
        Predicate::LessUnsigned => "ult",
        Predicate::GreaterOrEqualUnsigned => "uge",
        Predicate::Unordered => unreachable!("it is of floats"),
    };
    ("cmpi", name)
}
