//! The oracle: what a program computes, statement by statement, with the values of all names.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::program::{Binary, Id, Loop, Program, Statement, What};

/// The value of a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(i64),
    Tensor(Rc<Vec<f32>>),
}

/// The names of a frame.
pub(crate) type Names = BTreeMap<String, Value>;

/// A statement that has run.
pub(crate) struct Moment {
    /// The lines of the calls that lead to it, outermost first, and its own.
    pub(crate) path: Vec<u32>,
    /// The names of its function before it, and after it.
    pub(crate) before: Rc<Names>,
    pub(crate) after: Rc<Names>,
    /// The names of the functions that call it, outermost first.
    pub(crate) around: Vec<Rc<Names>>,
    /// Which call of a function it belongs to.
    pub(crate) activation: usize,
}

/// What has run, in order.
#[derive(Default)]
pub(crate) struct Trace {
    pub(crate) moments: Vec<Moment>,
    /// When a name of an activation got a value: before the moment with this index.
    pub(crate) defined: HashMap<(usize, String), Vec<(usize, Value)>>,
}

/// The most moments of a program; longer ones are not compared.
pub(crate) const LONGEST: usize = 3_000;

/// Runs a program; `None` if it runs too long.
pub(crate) fn run(program: &Program, inputs: &[Vec<f32>]) -> Option<Trace> {
    let mut machine = Machine {
        program,
        trace: Trace::default(),
        path: Vec::new(),
        around: Vec::new(),
        activations: 0,
    };
    let arguments = inputs.iter().map(|it| Value::Tensor(Rc::new(it.clone()))).collect();
    machine.call(program.functions.len() - 1, arguments)?;
    Some(machine.trace)
}

struct Machine<'p> {
    program: &'p Program,
    trace: Trace,
    path: Vec<u32>,
    around: Vec<Rc<Names>>,
    activations: usize,
}

/// The values of a function that are in scope.
struct Scope {
    values: HashMap<Id, Value>,
    names: Rc<Names>,
    activation: usize,
}

impl Machine<'_> {
    fn call(&mut self, function: usize, arguments: Vec<Value>) -> Option<Vec<Value>> {
        let function = &self.program.functions[function];
        self.activations += 1;
        let mut scope =
            Scope { values: HashMap::new(), names: Rc::default(), activation: self.activations };
        for (id, value) in function.arguments.iter().zip(arguments) {
            self.define(&mut scope, *id, value);
        }
        self.block(&mut scope, &function.body)?;
        Some(function.returned.iter().map(|id| self.get(&scope, *id)).collect())
    }

    fn get(&self, scope: &Scope, id: Id) -> Value {
        // `%k0` is no statement.
        scope.values.get(&id).cloned().unwrap_or(Value::Number(0))
    }

    fn tensor(&self, scope: &Scope, id: Id) -> Rc<Vec<f32>> {
        match self.get(scope, id) {
            Value::Tensor(tensor) => tensor,
            Value::Number(_) => unreachable!("{} is a number", self.program.values[id].name),
        }
    }

    fn number(&self, scope: &Scope, id: Id) -> i64 {
        match self.get(scope, id) {
            Value::Number(number) => number,
            Value::Tensor(_) => unreachable!("{} is a tensor", self.program.values[id].name),
        }
    }

    fn define(&mut self, scope: &mut Scope, id: Id, value: Value) {
        let name = &self.program.values[id].name;
        let at = self.trace.moments.len();
        let key = (scope.activation, name.clone());
        self.trace.defined.entry(key).or_default().push((at, value.clone()));
        Rc::make_mut(&mut scope.names).insert(name.clone(), value.clone());
        scope.values.insert(id, value);
    }

    /// A block: what it defines is not in scope after it.
    fn inner<T>(
        &mut self,
        scope: &mut Scope,
        inside: impl FnOnce(&mut Self, &mut Scope) -> Option<T>,
    ) -> Option<T> {
        let names = scope.names.clone();
        let found = inside(self, scope);
        scope.names = names;
        found
    }

    fn block(&mut self, scope: &mut Scope, block: &[Statement]) -> Option<()> {
        for statement in block {
            if self.trace.moments.len() > LONGEST {
                return None;
            }
            self.statement(scope, statement)?;
        }
        Some(())
    }

    /// A statement that computes a tensor of its own line, or of the one after it.
    fn computed(&mut self, scope: &mut Scope, line: u32, result: Id, elements: Vec<f32>) {
        let before = scope.names.clone();
        self.define(scope, result, Value::Tensor(Rc::new(elements)));
        let mut path = self.path.clone();
        path.push(line);
        let (after, around) = (scope.names.clone(), self.around.clone());
        let activation = scope.activation;
        self.trace.moments.push(Moment { path, before, after, around, activation });
    }

    fn statement(&mut self, scope: &mut Scope, statement: &Statement) -> Option<()> {
        let line = statement.line;
        match &statement.what {
            What::Binary(operation, result, operands) => {
                let [a, b] = operands.map(|it| self.tensor(scope, it));
                self.computed(scope, line, *result, binary(*operation, &a, &b));
            }
            What::Small(result, of) => {
                let of = self.tensor(scope, *of);
                let small = |it: &f32| if it.is_nan() { *it } else { it.clamp(-50.0, 50.0) };
                let small: Vec<f32> = of.iter().map(small).collect();
                self.computed(scope, line + 1, *result, small);
            }
            What::Transpose(result, of) => {
                let of = self.tensor(scope, *of);
                let turned = (0..16).map(|at| of[at % 4 * 4 + at / 4]).collect();
                self.computed(scope, line, *result, turned);
            }
            What::Row(result, of, at) => {
                let (of, at) = (self.tensor(scope, *of), self.number(scope, *at) as usize);
                self.computed(scope, line, *result, of[at * 4..at * 4 + 4].to_vec());
            }
            What::WithRow(result, row, [of, at]) => {
                let row = self.tensor(scope, *row);
                let (of, at) = (self.tensor(scope, *of), self.number(scope, *at) as usize);
                let mut with = of.to_vec();
                with[at * 4..at * 4 + 4].copy_from_slice(&row);
                self.computed(scope, line, *result, with);
            }
            What::Next(result, of) => {
                let next = self.number(scope, *of) + 1;
                self.define(scope, *result, Value::Number(next));
            }
            What::For { counter, first, end, step, of } => {
                let mut carried = self.all(scope, &of.initial);
                let mut at = *first;
                while at < end.value {
                    carried = self.inner(scope, |it, scope| {
                        it.define(scope, *counter, Value::Number(at.into()));
                        it.turn(scope, of, carried)
                    })?;
                    at += step;
                }
                self.results(scope, &of.results, carried);
            }
            What::While { tested, test, passed, end, of } => {
                let mut carried = self.all(scope, &of.initial);
                loop {
                    carried = self.inner(scope, |it, scope| {
                        it.results(scope, tested, carried);
                        it.block(scope, test)?;
                        Some(it.all(scope, passed))
                    })?;
                    if carried.first() >= Some(&Value::Number(end.value.into())) {
                        break;
                    }
                    carried = self.inner(scope, |it, scope| it.turn(scope, of, carried))?;
                }
                self.results(scope, &of.results, carried);
            }
            What::If { index, below, result, regions } => {
                let is_below = self.number(scope, *index) < i64::from(*below);
                let (block, yielded) = &regions[usize::from(!is_below)];
                let chosen = self.inner(scope, |it, scope| {
                    it.block(scope, block)?;
                    Some(it.get(scope, *yielded))
                })?;
                self.define(scope, *result, chosen);
            }
            What::Call { function, arguments, results } => {
                let arguments = self.all(scope, arguments);
                self.path.push(line);
                self.around.push(scope.names.clone());
                let returned = self.call(*function, arguments)?;
                self.path.pop();
                self.around.pop();
                self.results(scope, results, returned);
            }
        }
        Some(())
    }

    fn all(&self, scope: &Scope, ids: &[Id]) -> Vec<Value> {
        ids.iter().map(|id| self.get(scope, *id)).collect()
    }

    fn results(&mut self, scope: &mut Scope, ids: &[Id], values: Vec<Value>) {
        for (id, value) in ids.iter().zip(values) {
            self.define(scope, *id, value);
        }
    }

    fn turn(&mut self, scope: &mut Scope, of: &Loop, carried: Vec<Value>) -> Option<Vec<Value>> {
        self.results(scope, &of.inside, carried);
        self.block(scope, &of.body)?;
        Some(self.all(scope, &of.yielded))
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.partial_cmp(other),
            _ => None,
        }
    }
}

fn binary(operation: Binary, a: &[f32], b: &[f32]) -> Vec<f32> {
    if operation == Binary::Matmul {
        let element = |at: usize| {
            let terms = (0..4).map(|k| a[at / 4 * 4 + k] * b[k * 4 + at % 4]);
            terms.fold(0.0, |sum, it| sum + it)
        };
        return (0..16).map(element).collect();
    }
    let apply = |(a, b): (&f32, &f32)| match operation {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        // As `arith.maximumf`: not a number, if one of them is none.
        _ if a.is_nan() || b.is_nan() => f32::NAN,
        _ => a.max(*b),
    };
    a.iter().zip(b).map(apply).collect()
}
