//! Programs as trees: functions of tensors with loops, branches and calls, and their text.

use std::fmt::Write;
use std::ops::RangeInclusive;

/// A value: an index into [`Program::values`].
pub(crate) type Id = usize;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    /// A counter of an `scf.for`.
    Index,
    /// A counter that a loop carries.
    Count,
    /// 4×4.
    Tensor,
    /// One row of such a tensor.
    Row,
}

impl Type {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Count => "i32",
            Self::Tensor => "tensor<4x4xf32>",
            Self::Row => "tensor<1x4xf32>",
        }
    }
}

/// A value of the source. The same name may be defined again in another block.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) type_: Type,
}

/// An operation of two tensors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Maximum,
    Matmul,
}

/// A loop, as far as `scf.for` and `scf.while` agree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loop {
    /// What it begins with.
    pub(crate) initial: Vec<Id>,
    /// What that is in the body.
    pub(crate) inside: Vec<Id>,
    pub(crate) body: Vec<Statement>,
    pub(crate) yielded: Vec<Id>,
    pub(crate) results: Vec<Id>,
}

/// A statement. Its line is known once it is printed.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) line: u32,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Binary(Binary, Id, [Id; 2]),
    /// Makes elements small again, so that all arithmetic is exact.
    Small(Id, Id),
    Transpose(Id, Id),
    /// One row of a tensor: of which one, at which index.
    Row(Id, Id, Id),
    /// A tensor with another row: the row, the tensor, the index.
    WithRow(Id, Id, [Id; 2]),
    /// A count plus one.
    Next(Id, Id),
    For {
        counter: Id,
        first: u8,
        end: Bound,
        step: u8,
        of: Loop,
    },
    /// Goes on while a count, which is the first that it carries, is below the bound.
    While {
        /// What it carries, where it is tested; the test may compute tensors, too.
        tested: Vec<Id>,
        test: Vec<Statement>,
        passed: Vec<Id>,
        end: Bound,
        of: Loop,
    },
    /// Chooses by whether an index is below a number.
    If {
        index: Id,
        below: u8,
        result: Id,
        regions: [(Vec<Statement>, Id); 2],
    },
    Call {
        function: usize,
        arguments: Vec<Id>,
        results: Vec<Id>,
    },
}

/// Where a loop ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) value: u8,
    /// Whether the compiler does not know it.
    pub(crate) is_hidden: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Id>,
    pub(crate) body: Vec<Statement>,
    pub(crate) returned: Vec<Id>,
    /// Whether the compiler leaves it a function.
    pub(crate) is_kept: bool,
    /// Its lines, once it is printed.
    pub(crate) lines: RangeInclusive<u32>,
}

/// A program; its last function is called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) values: Vec<Named>,
    pub(crate) functions: Vec<Function>,
}

impl Program {
    pub(crate) fn main(&self) -> &Function {
        self.functions.last().expect("a program has a function")
    }

    /// Prints the program, and gives its statements their lines.
    pub(crate) fn print(&mut self) -> String {
        let mut printer = Printer { values: &self.values, text: String::new(), line: 1 };
        let signatures: Vec<(String, Vec<Type>)> = (self.functions.iter())
            .map(|it| {
                let types = it.returned.iter().map(|id| self.values[*id].type_);
                (it.name.clone(), types.collect())
            })
            .collect();
        let last = self.functions.len() - 1;
        for (at, function) in self.functions.iter_mut().enumerate() {
            printer.function(function, at == last, &signatures);
        }
        printer.text
    }
}

/// The numbers that statements name: `%c0` to `%c4`, and the ends of loops that are hidden.
const NUMBERS: u8 = 5;

struct Printer<'p> {
    values: &'p [Named],
    text: String,
    line: u32,
}

impl Printer<'_> {
    fn put(&mut self, depth: usize, text: &str) -> u32 {
        let _ = writeln!(self.text, "{:1$}{text}", "", depth * 2);
        self.line += 1;
        self.line - 1
    }

    fn name(&self, id: Id) -> String {
        format!("%{}", self.values[id].name)
    }

    fn names(&self, ids: &[Id]) -> String {
        ids.iter().map(|id| self.name(*id)).collect::<Vec<_>>().join(", ")
    }

    fn types(&self, ids: &[Id]) -> String {
        ids.iter().map(|id| self.values[*id].type_.text()).collect::<Vec<_>>().join(", ")
    }

    fn declared(&self, ids: &[Id]) -> String {
        let declared = |id: &Id| format!("{}: {}", self.name(*id), self.values[*id].type_.text());
        ids.iter().map(declared).collect::<Vec<_>>().join(", ")
    }

    /// `%a = %x, %b = %y`.
    fn pairs(&self, of: &[Id], to: &[Id]) -> String {
        let pairs = of.iter().zip(to);
        let pairs =
            pairs.map(|(one, other)| format!("{} = {}", self.name(*one), self.name(*other)));
        pairs.collect::<Vec<_>>().join(", ")
    }

    fn function(
        &mut self,
        function: &mut Function,
        is_public: bool,
        signatures: &[(String, Vec<Type>)],
    ) {
        let visibility = if is_public { "" } else { "private " };
        let attributes = if function.is_kept { " attributes {noinline}" } else { "" };
        let (declared, types) =
            (self.declared(&function.arguments), self.types(&function.returned));
        let (name, first) = (&function.name, self.line);
        self.put(
            0,
            &format!("func.func {visibility}@{name}({declared}) -> ({types}){attributes} {{"),
        );
        for number in 0..NUMBERS {
            self.put(1, &format!("%c{number} = arith.constant {number} : index"));
            self.put(1, &format!("%k{number} = arith.constant {number} : i32"));
            self.put(1, &format!("%h{number} = util.optimization_barrier %c{number} : index"));
            self.put(1, &format!("%l{number} = util.optimization_barrier %k{number} : i32"));
        }
        self.put(1, "%zero = arith.constant 0.0 : f32");
        self.put(1, "%high = arith.constant dense<50.0> : tensor<4x4xf32>");
        self.put(1, "%low = arith.constant dense<-50.0> : tensor<4x4xf32>");
        self.put(1, "%empty = tensor.empty() : tensor<4x4xf32>");
        let fill = "%fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) \
                    -> tensor<4x4xf32>";
        self.put(1, fill);
        self.block(&mut function.body, 1, signatures);
        let returned = self.names(&function.returned);
        self.put(1, &format!("return {returned} : {types}"));
        function.lines = first..=self.put(0, "}");
    }

    fn block(&mut self, block: &mut [Statement], depth: usize, signatures: &[(String, Vec<Type>)]) {
        for statement in block {
            statement.line = self.line;
            self.statement(&mut statement.what, depth, signatures);
        }
    }

    fn statement(&mut self, what: &mut What, depth: usize, signatures: &[(String, Vec<Type>)]) {
        const T: &str = "tensor<4x4xf32>";
        match what {
            What::Binary(Binary::Matmul, result, [a, b]) => {
                let [result, a, b] = [*result, *a, *b].map(|it| self.name(it));
                let text = format!(
                    "{result} = linalg.matmul ins({a}, {b} : {T}, {T}) outs(%fill : {T}) -> {T}"
                );
                self.put(depth, &text);
            }
            What::Binary(operation, result, [a, b]) => {
                let [name, a, b] = [*result, *a, *b].map(|it| self.name(it));
                let operation = match operation {
                    Binary::Add => "addf",
                    Binary::Subtract => "subf",
                    Binary::Multiply => "mulf",
                    _ => "maximumf",
                };
                self.put(depth, &format!("{name} = arith.{operation} {a}, {b} : {T}"));
            }
            What::Small(result, of) => {
                let [name, of] = [*result, *of].map(|it| self.name(it));
                self.put(depth, &format!("{name}_l = arith.maximumf {of}, %low : {T}"));
                self.put(depth, &format!("{name} = arith.minimumf {name}_l, %high : {T}"));
            }
            What::Transpose(result, of) => {
                let [name, of] = [*result, *of].map(|it| self.name(it));
                let text = format!(
                    "{name} = linalg.transpose ins({of} : {T}) outs(%empty : {T}) \
                     permutation = [1, 0]"
                );
                self.put(depth, &text);
            }
            What::Row(result, of, at) => {
                let [name, of, at] = [*result, *of, *at].map(|it| self.name(it));
                let text = format!(
                    "{name} = tensor.extract_slice {of}[{at}, 0] [1, 4] [1, 1] : {T} \
                     to tensor<1x4xf32>"
                );
                self.put(depth, &text);
            }
            What::WithRow(result, row, [of, at]) => {
                let [name, row, of, at] = [*result, *row, *of, *at].map(|it| self.name(it));
                let text = format!(
                    "{name} = tensor.insert_slice {row} into {of}[{at}, 0] [1, 4] [1, 1] : \
                     tensor<1x4xf32> into {T}"
                );
                self.put(depth, &text);
            }
            What::Next(result, of) => {
                let [name, of] = [*result, *of].map(|it| self.name(it));
                self.put(depth, &format!("{name} = arith.addi {of}, %k1 : i32"));
            }
            What::For { counter, first, end, step, of } => {
                let results = self.names(&of.results);
                let pairs = self.pairs(&of.inside, &of.initial);
                let types = self.types(&of.results);
                let end = format!("%{}{}", if end.is_hidden { "h" } else { "c" }, end.value);
                let counter = self.name(*counter);
                let text = format!(
                    "{results} = scf.for {counter} = %c{first} to {end} step %c{step} \
                     iter_args({pairs}) -> ({types}) {{"
                );
                self.put(depth, &text);
                self.body(of, depth, signatures);
            }
            What::While { tested, test, passed, end, of } => {
                let (results, types) = (self.names(&of.results), self.types(&of.results));
                let pairs = self.pairs(tested, &of.initial);
                let text = format!("{results} = scf.while ({pairs}) : ({types}) -> ({types}) {{");
                self.put(depth, &text);
                self.block(test, depth + 1, signatures);
                let count = self.name(passed[0]);
                let end = format!("%{}{}", if end.is_hidden { "l" } else { "k" }, end.value);
                self.put(depth + 1, &format!("%more = arith.cmpi slt, {count}, {end} : i32"));
                let passed = self.names(passed);
                self.put(depth + 1, &format!("scf.condition(%more) {passed} : {types}"));
                self.put(depth, "} do {");
                let declared = self.declared(&of.inside);
                self.put(depth, &format!("^bb0({declared}):"));
                self.body(of, depth, signatures);
            }
            What::If { index, below, result, regions } => {
                let [index, result] = [*index, *result].map(|it| self.name(it));
                self.put(
                    depth,
                    &format!("{result}_is = arith.cmpi slt, {index}, %c{below} : index"),
                );
                self.put(depth, &format!("{result} = scf.if {result}_is -> ({T}) {{"));
                for (at, (block, yielded)) in regions.iter_mut().enumerate() {
                    self.block(block, depth + 1, signatures);
                    let yielded = self.name(*yielded);
                    self.put(depth + 1, &format!("scf.yield {yielded} : {T}"));
                    self.put(depth, if at == 0 { "} else {" } else { "}" });
                }
            }
            What::Call { function, arguments, results } => {
                let (name, types) = &signatures[*function];
                let types: Vec<&str> = types.iter().map(|it| it.text()).collect();
                let text = format!(
                    "{} = func.call @{name}({}) : ({}) -> ({})",
                    self.names(results),
                    self.names(arguments),
                    self.types(arguments),
                    types.join(", ")
                );
                self.put(depth, &text);
            }
        }
    }

    fn body(&mut self, of: &mut Loop, depth: usize, signatures: &[(String, Vec<Type>)]) {
        self.block(&mut of.body, depth + 1, signatures);
        let (yielded, types) = (self.names(&of.yielded), self.types(&of.yielded));
        self.put(depth + 1, &format!("scf.yield {yielded} : {types}"));
        self.put(depth, "}");
    }
}
