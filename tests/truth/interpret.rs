//! Runs a program by its source, and records which operations were executed, from where, and with
//! which values.

use std::rc::Rc;

use crate::program::{
    Binary, Block, Cast, Function, Id, Inputs, Kind, Operation, Predicate, Program, Type, Value,
};
use crate::scope::Scopes;

/// The most operations that may be executed.
const LIMIT: usize = 3_000;

/// The execution of an operation.
pub(crate) struct Event {
    /// Innermost first.
    pub(crate) stack: Vec<Rc<Level>>,
    /// Whether the operation begins its line.
    pub(crate) begins_line: bool,
    /// Whether no compiler can remove it or execute it less often.
    pub(crate) is_certain: bool,
}

/// A function on the stack.
pub(crate) struct Level {
    pub(crate) function: usize,
    /// The number of the operation; 0 is the function's entry.
    pub(crate) number: usize,
    pub(crate) line: u32,
    /// The values in scope, in the scope's order.
    pub(crate) values: Vec<(Id, Value)>,
    /// Values that may be shown too, though they are not in scope yet.
    pub(crate) extras: Vec<(Id, Value)>,
}

pub(crate) struct Run {
    pub(crate) events: Vec<Event>,
    pub(crate) results: Vec<Value>,
    /// The tensors that values refer to, row by row.
    pub(crate) tensors: Vec<Vec<f32>>,
}

/// Runs the entry function. `None` if it takes too long.
pub(crate) fn run(program: &Program, scopes: &[Scopes], inputs: &Inputs) -> Option<Run> {
    let globals = program.globals.iter().map(|it| it.initial).collect();
    let mut machine = Machine {
        program,
        scopes,
        globals,
        lists: Vec::new(),
        tensors: Vec::new(),
        callers: Vec::new(),
        events: Vec::new(),
    };
    machine.tensors.clone_from(&inputs.tensors);
    let results = machine.call(program.functions.len() - 1, &inputs.values)?;
    Some(Run { events: machine.events, results, tensors: machine.tensors })
}

struct Machine<'a> {
    program: &'a Program,
    scopes: &'a [Scopes],
    globals: Vec<i64>,
    lists: Vec<Vec<i64>>,
    tensors: Vec<Vec<f32>>,
    /// The callers, outermost first.
    callers: Vec<Rc<Level>>,
    events: Vec<Event>,
}

/// The state of the current function.
struct Frame {
    index: usize,
    values: Vec<Option<Value>>,
}

impl Frame {
    fn get(&self, id: Id) -> Value {
        self.values[id].expect("the source makes values before it uses them")
    }

    fn integer(&self, id: Id) -> i64 {
        match self.get(id) {
            Value::Integer(value) => value,
            other => panic!("{other:?} is no integer"),
        }
    }

    fn list(&self, id: Id) -> usize {
        match self.get(id) {
            Value::List(list) => list,
            other => panic!("{other:?} is no list"),
        }
    }

    fn tensor(&self, id: Id) -> usize {
        match self.get(id) {
            Value::Tensor(tensor) => tensor,
            other => panic!("{other:?} is no tensor"),
        }
    }

    fn set(&mut self, ids: &[Id], values: &[Value]) {
        for (id, value) in ids.iter().zip(values) {
            self.values[*id] = Some(*value);
        }
    }

    fn all(&self, ids: &[Id]) -> Vec<Value> {
        ids.iter().map(|id| self.get(*id)).collect()
    }
}

/// How a block ends.
enum End {
    Values(Vec<Value>),
    Condition(bool, Vec<Value>),
    Branch(usize, Vec<Value>),
}

impl Machine<'_> {
    fn function(&self, index: usize) -> &Function {
        &self.program.functions[index]
    }

    fn call(&mut self, index: usize, arguments: &[Value]) -> Option<Vec<Value>> {
        let program = self.program;
        let function = &program.functions[index];
        let mut frame = Frame { index, values: vec![None; function.values.len()] };
        frame.set(function.parameters(), arguments);
        self.note_place(&frame, 0, function.line, &[], (true, false))?;
        let mut block = 0;
        loop {
            match self.block(&mut frame, &function.blocks[block])? {
                End::Values(values) => return Some(values),
                End::Branch(target, values) => {
                    frame.set(&function.blocks[target].arguments, &values);
                    block = target;
                }
                End::Condition(..) => unreachable!("a function does not end so"),
            }
        }
    }

    fn level(&self, frame: &Frame, number: usize, line: u32, extras: &[(Id, Value)]) -> Rc<Level> {
        let visible = &self.scopes[frame.index].visible[number];
        let values = visible.iter().map(|id| (*id, frame.get(*id))).collect();
        Rc::new(Level { function: frame.index, number, line, values, extras: extras.to_vec() })
    }

    fn note_place(
        &mut self,
        frame: &Frame,
        number: usize,
        line: u32,
        extras: &[(Id, Value)],
        (begins_line, is_certain): (bool, bool),
    ) -> Option<()> {
        let mut stack = vec![self.level(frame, number, line, extras)];
        stack.extend(self.callers.iter().rev().cloned());
        self.events.push(Event { stack, begins_line, is_certain });
        (self.events.len() < LIMIT).then_some(())
    }

    fn note(&mut self, frame: &Frame, operation: &Operation) -> Option<()> {
        let is_certain = match operation.kind {
            Kind::Call(callee) => self.function(callee).is_kept,
            Kind::ListSet => true,
            _ => false,
        };
        let kinds = (!operation.joins, is_certain);
        self.note_place(frame, operation.number, operation.line, &[], kinds)
    }

    /// Records a loop's test, which its line stands for too.
    fn note_test(&mut self, frame: &Frame, operation: &Operation, ids: &[Id]) -> Option<()> {
        let extras: Vec<_> = ids.iter().map(|id| (*id, frame.get(*id))).collect();
        self.note_place(frame, operation.number, operation.line, &extras, (true, false))
    }

    fn block(&mut self, frame: &mut Frame, block: &Block) -> Option<End> {
        for operation in &block.operations {
            self.note(frame, operation)?;
            let operands = &operation.operands;
            match operation.kind {
                Kind::Yield | Kind::ElementYield | Kind::Return => {
                    return Some(End::Values(frame.all(operands)));
                }
                Kind::Condition => {
                    let goes_on = frame.integer(operands[0]) != 0;
                    return Some(End::Condition(goes_on, frame.all(&operands[1..])));
                }
                Kind::Branch(target) => return Some(End::Branch(target, frame.all(operands))),
                Kind::BranchIf(yes, no, count) => {
                    let (first, second) = operands[1..].split_at(count);
                    let (target, passed) =
                        if frame.integer(operands[0]) != 0 { (yes, first) } else { (no, second) };
                    return Some(End::Branch(target, frame.all(passed)));
                }
                _ => {
                    let results = self.execute(frame, operation)?;
                    frame.set(&operation.results, &results);
                }
            }
        }
        Some(End::Values(Vec::new()))
    }

    fn execute(&mut self, frame: &mut Frame, operation: &Operation) -> Option<Vec<Value>> {
        let operands = &operation.operands;
        let result = match operation.kind {
            Kind::For => return self.count(frame, operation),
            Kind::While => return self.repeat(frame, operation),
            Kind::If => {
                let chosen = usize::from(frame.integer(operands[0]) == 0);
                let Some(region) = operation.regions.get(chosen) else { return Some(Vec::new()) };
                return match self.block(frame, region)? {
                    End::Values(values) => Some(values),
                    _ => unreachable!("an `if` does not end so"),
                };
            }
            Kind::Call(callee) => {
                let caller = self.level(frame, operation.number, operation.line, &[]);
                let arguments = frame.all(operands);
                self.callers.push(caller);
                let results = self.call(callee, &arguments)?;
                self.callers.pop();
                return Some(results);
            }
            Kind::Load(global) => Value::Integer(self.globals[global]),
            Kind::Store(global) => {
                self.globals[global] = frame.integer(operands[0]);
                return Some(Vec::new());
            }
            Kind::ListCreate => {
                self.lists.push(Vec::new());
                Value::List(self.lists.len() - 1)
            }
            Kind::ListResize => {
                let length = frame.integer(operands[1]) as usize;
                self.lists[frame.list(operands[0])].resize(length, 0);
                return Some(Vec::new());
            }
            Kind::ListGet => {
                let index = frame.integer(operands[1]) as usize;
                Value::Integer(self.lists[frame.list(operands[0])][index])
            }
            Kind::ListSet => {
                let (index, value) = (frame.integer(operands[1]), frame.integer(operands[2]));
                self.lists[frame.list(operands[0])][index as usize] = value;
                return Some(Vec::new());
            }
            Kind::ListSize => Value::Integer(self.lists[frame.list(operands[0])].len() as i64),
            Kind::TensorEmpty | Kind::Fill => {
                let value = match operands.first() {
                    None => 0.0,
                    Some(id) => float(frame.get(*id)) as f32,
                };
                let (rows, columns) = self.shape(frame, operation.results[0]);
                self.keep(vec![value; rows * columns])
            }
            Kind::Generic => return self.elements(frame, operation),
            Kind::MatrixProduct => {
                let ((rows, inner), (_, columns)) =
                    (self.shape(frame, operands[0]), self.shape(frame, operands[1]));
                let [left, right, sum] =
                    [0, 1, 2].map(|at| &self.tensors[frame.tensor(operands[at])]);
                let element = |at: usize| {
                    let (row, column) = (at / columns, at % columns);
                    let products =
                        (0..inner).map(|k| left[row * inner + k] * right[k * columns + column]);
                    sum[at] + products.sum::<f32>()
                };
                let product = (0..rows * columns).map(element).collect();
                self.keep(product)
            }
            Kind::Extract => {
                let (_, columns) = self.shape(frame, operands[0]);
                let at = operands[1..].iter().map(|id| frame.integer(*id) as usize);
                let at = at.reduce(|row, column| row * columns + column).unwrap_or(0);
                Value::F32(self.tensors[frame.tensor(operands[0])][at])
            }
            Kind::Dimension => {
                let (rows, columns) = self.shape(frame, operands[0]);
                let size = if frame.integer(operands[1]) == 0 { rows } else { columns };
                Value::Integer(size as i64)
            }
            kind => {
                let function = self.function(frame.index);
                let from = operands.first().map(|id| function.kind(*id));
                let to = function.kind(operation.results[0]);
                pure(kind, &frame.all(operands), from, to)
            }
        };
        Some(vec![result])
    }

    fn count(&mut self, frame: &mut Frame, operation: &Operation) -> Option<Vec<Value>> {
        let [mut counter, upper, step] = [0, 1, 2].map(|at| frame.integer(operation.operands[at]));
        let mut carried = frame.all(&operation.operands[3..]);
        let body = &operation.regions[0];
        while counter < upper {
            frame.set(&body.arguments[..1], &[Value::Integer(counter)]);
            frame.set(&body.arguments[1..], &carried);
            self.note_test(frame, operation, &body.arguments)?;
            match self.block(frame, body)? {
                End::Values(values) => carried = values,
                _ => unreachable!("a `for` does not end so"),
            }
            counter += step;
        }
        self.note_test(frame, operation, &[])?;
        Some(carried)
    }

    /// Rows and columns. A vector has one column.
    fn shape(&self, frame: &Frame, id: Id) -> (usize, usize) {
        match self.function(frame.index).kind(id) {
            Type::Tensor(rows, columns) => (rows.into(), usize::from(columns).max(1)),
            other => panic!("{other:?} has no shape"),
        }
    }

    fn keep(&mut self, tensor: Vec<f32>) -> Value {
        self.tensors.push(tensor);
        Value::Tensor(self.tensors.len() - 1)
    }

    /// Runs the region of a `linalg.generic` for each element. A result with fewer columns than the
    /// inputs is a reduction.
    fn elements(&mut self, frame: &mut Frame, operation: &Operation) -> Option<Vec<Value>> {
        let (inputs, output) = operation.operands.split_at(operation.operands.len() - 1);
        let (rows, columns) = self.shape(frame, inputs[0]);
        let (_, kept) = self.shape(frame, output[0]);
        let mut result = self.tensors[frame.tensor(output[0])].clone();
        let body = &operation.regions[0];
        for at in 0..rows * columns {
            let to = if kept == columns { at } else { at / columns };
            let elements = inputs.iter().map(|id| self.tensors[frame.tensor(*id)][at]);
            let mut values: Vec<Value> = elements.map(Value::F32).collect();
            values.push(Value::F32(result[to]));
            frame.set(&body.arguments, &values);
            match self.block(frame, body)? {
                End::Values(values) => result[to] = float(values[0]) as f32,
                _ => unreachable!("an element does not end so"),
            }
        }
        Some(vec![self.keep(result)])
    }

    fn repeat(&mut self, frame: &mut Frame, operation: &Operation) -> Option<Vec<Value>> {
        let [before, after] = [&operation.regions[0], &operation.regions[1]];
        let mut carried = frame.all(&operation.operands);
        loop {
            frame.set(&before.arguments, &carried);
            self.note_test(frame, operation, &before.arguments)?;
            let passed = match self.block(frame, before)? {
                End::Condition(true, passed) => passed,
                End::Condition(false, passed) => return Some(passed),
                _ => unreachable!("the first region of a `while` does not end so"),
            };
            frame.set(&after.arguments, &passed);
            match self.block(frame, after)? {
                End::Values(values) => carried = values,
                _ => unreachable!("a `while` does not end so"),
            }
        }
    }
}

fn pure(kind: Kind, operands: &[Value], from: Option<Type>, to: Type) -> Value {
    match (kind, operands) {
        (Kind::Constant(value), _) => value,
        (Kind::Select, [Value::Integer(condition), yes, no]) => {
            if *condition != 0 {
                *yes
            } else {
                *no
            }
        }
        (Kind::Binary(binary), [Value::Integer(left), Value::Integer(right)]) => {
            Value::Integer(fit(integer(binary, *left, *right, to), to))
        }
        (Kind::Binary(binary), [Value::F32(left), Value::F32(right)]) => Value::F32(match binary {
            Binary::Add => left + right,
            Binary::Subtract => left - right,
            Binary::MaximumFloat if left.is_nan() || right.is_nan() => f32::NAN,
            Binary::MinimumFloat if left.is_nan() || right.is_nan() => f32::NAN,
            Binary::MaximumFloat => left.max(*right),
            Binary::MinimumFloat => left.min(*right),
            _ => left * right,
        }),
        (Kind::Binary(binary), [Value::F64(left), Value::F64(right)]) => Value::F64(match binary {
            Binary::Add => left + right,
            Binary::Subtract => left - right,
            Binary::MaximumFloat if left.is_nan() || right.is_nan() => f64::NAN,
            Binary::MinimumFloat if left.is_nan() || right.is_nan() => f64::NAN,
            Binary::MaximumFloat => left.max(*right),
            Binary::MinimumFloat => left.min(*right),
            _ => left * right,
        }),
        (Kind::AbsoluteFloat, [Value::F32(value)]) => Value::F32(value.abs()),
        (Kind::AbsoluteFloat, [Value::F64(value)]) => Value::F64(value.abs()),
        (Kind::NegateFloat, [Value::F32(value)]) => Value::F32(-value),
        (Kind::NegateFloat, [Value::F64(value)]) => Value::F64(-value),
        (Kind::Compare(predicate), [Value::Integer(left), Value::Integer(right)]) => {
            let kind = from.unwrap_or(Type::I64);
            let (ul, ur) = (unsigned(*left, kind), unsigned(*right, kind));
            Value::Integer(i64::from(match predicate {
                Predicate::Equal => left == right,
                Predicate::NotEqual => left != right,
                Predicate::Less => left < right,
                Predicate::LessOrEqual => left <= right,
                Predicate::Greater => left > right,
                Predicate::LessUnsigned => ul < ur,
                Predicate::GreaterOrEqualUnsigned => ul >= ur,
                Predicate::Unordered => unreachable!("it is of floats"),
            }))
        }
        (Kind::Compare(predicate), [left, right]) => {
            let (left, right) = (float(*left), float(*right));
            Value::Integer(i64::from(match predicate {
                Predicate::Equal => left == right,
                Predicate::NotEqual => left != right,
                Predicate::LessOrEqual => left <= right,
                Predicate::Greater => left > right,
                Predicate::Less | Predicate::LessUnsigned => left < right,
                Predicate::GreaterOrEqualUnsigned => left >= right,
                Predicate::Unordered => left.is_nan() || right.is_nan(),
            }))
        }
        (Kind::Cast(cast), [Value::Integer(value)]) => match cast {
            Cast::Index | Cast::Truncate => Value::Integer(fit(*value, to)),
            Cast::ExtendSigned if from == Some(Type::I1) => Value::Integer(-*value),
            Cast::ExtendSigned => Value::Integer(*value),
            Cast::ExtendUnsigned => {
                Value::Integer(unsigned(*value, from.unwrap_or(Type::I64)).cast_signed())
            }
            Cast::ToFloat => Value::F32(*value as f32),
        },
        other => panic!("{other:?} cannot be computed"),
    }
}

fn float(value: Value) -> f64 {
    match value {
        Value::F32(value) => value.into(),
        Value::F64(value) => value,
        other => panic!("{other:?} is no float"),
    }
}

/// The low bits of a number, read as its type reads them.
fn fit(value: i64, kind: Type) -> i64 {
    match kind {
        Type::I1 => value & 1,
        Type::I32 => i64::from(value as i32),
        _ => value,
    }
}

fn unsigned(value: i64, kind: Type) -> u64 {
    match kind {
        Type::I1 => value.cast_unsigned() & 1,
        Type::I32 => u64::from(value as u32),
        _ => value.cast_unsigned(),
    }
}

fn integer(binary: Binary, left: i64, right: i64, kind: Type) -> i64 {
    let (ul, ur) = (unsigned(left, kind), unsigned(right, kind));
    match binary {
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::And => left & right,
        Binary::Or => left | right,
        Binary::Xor => left ^ right,
        Binary::ShiftLeft => left << right,
        Binary::ShiftRightSigned => left >> right,
        Binary::ShiftRightUnsigned => (ul >> ur).cast_signed(),
        Binary::DivideUnsigned => (ul / ur).cast_signed(),
        Binary::RemainderUnsigned => (ul % ur).cast_signed(),
        Binary::DivideSigned => left.wrapping_div(right),
        Binary::MaximumSigned => left.max(right),
        Binary::MinimumUnsigned => ul.min(ur).cast_signed(),
        Binary::MaximumFloat | Binary::MinimumFloat => unreachable!("it is of floats"),
    }
}
