//! The console: expressions as in watches, and calls of the program's own functions.
//!
//! Only pure functions are called: they store no global, call no import (a device would see it),
//! and take no reference. Their bytecode tells. A call has an invocation of its own and a time
//! limit, and can be cancelled.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use vm::{FunctionId, Invocation, Outcome, Value};
use vmfb::{Callee, Op};

use crate::expression::{
    Datum, EvaluationError, Expression, ExpressionError, Family, Item, Limits, Printed, Scope,
};
use crate::inspect::frame_scope::FrameScope;
use crate::machine::Machine;
use crate::target::calls::callee;
use crate::tensor::Number;
use crate::view::frame::FrameId;
use crate::view::text::value_text;
use crate::view::variable::Variable;

/// Most breakpoints and other stops that a call passes before it is given up.
const MAX_STOPS: usize = 1 << 20;

impl Machine {
    /// The value of an expression, which may call pure functions of the program.
    ///
    /// # Errors
    /// The text is not an expression, does not make sense here, takes too long, or calls a function
    /// that is not pure.
    pub(crate) fn evaluate_in_console(
        &mut self,
        frame: impl Into<FrameId>,
        expression: &str,
        limits: Limits,
    ) -> Result<Variable, ExpressionError> {
        self.shown_in_console(frame.into(), expression, limits).map(|(shown, _)| shown)
    }

    /// The same, kept as the next of the printed values, with its number.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn print_in_console(
        &mut self,
        frame: FrameId,
        expression: &str,
        limits: Limits,
    ) -> Result<(Option<usize>, Variable), ExpressionError> {
        let (shown, item) = self.shown_in_console(frame, expression, limits)?;
        Ok((self.printed.keep(&item), shown))
    }

    fn shown_in_console(
        &mut self,
        frame: FrameId,
        expression: &str,
        limits: Limits,
    ) -> Result<(Variable, Item), ExpressionError> {
        // `%x-1` may be a name rather than a subtraction.
        let (body, _) = expression.rsplit_once(',').unwrap_or((expression, ""));
        let is_name = |text: &str| {
            let name = text.trim().strip_prefix('%');
            name.is_some_and(|name| self.scope_at(self.level, frame).is_local(name))
        };
        if is_name(expression) || is_name(body) {
            let (shown, item) = self.shown_within(frame, expression, limits)?;
            return Ok((Variable { evaluate_name: None, ..shown }, item));
        }
        let parsed = Expression::parse(expression)?;
        let mut scope = ConsoleScope { machine: self, frame, limits: limits.clone() };
        let (shown, item) = parsed.shown(&mut scope, limits, expression.trim())?;
        Ok((Variable { evaluate_name: None, ..shown }, item))
    }

    /// The value of an expression that the user has typed, with the place that keeps it.
    pub(crate) fn console_item(
        &mut self,
        frame: FrameId,
        expression: &Expression,
    ) -> Result<Item, ExpressionError> {
        let limits = Limits::default();
        expression.item(&mut ConsoleScope { machine: self, frame, limits: limits.clone() }, limits)
    }

    /// Calls a pure function.
    fn call_pure(
        &mut self,
        name: &str,
        arguments: &[Datum],
        limits: &Limits,
    ) -> Result<Datum, EvaluationError> {
        let found = self.program.resolve_function(name);
        let unknown = || EvaluationError::NoFunction { name: name.to_owned() };
        let position = found.locations.first().ok_or_else(unknown)?;
        let function = position.function;
        self.check_pure(function, name)?;
        let signature = self.context.signature(function).unwrap_or_default();
        if signature.arguments.len() != arguments.len() {
            return Err(EvaluationError::Signature {
                name: name.to_owned(),
                takes: signature.arguments.len(),
                given: arguments.len(),
                signature: signature.to_string(),
            });
        }
        let mut values: Vec<Value> = Vec::with_capacity(arguments.len());
        for (argument, wanted) in arguments.iter().zip(&signature.arguments) {
            values.push(call_argument(argument, wanted)?);
        }
        let results = self.run_aside(function, values, limits)?;
        match results.as_slice() {
            [] => Err(EvaluationError::NoResult { name: name.to_owned() }),
            [only] => Ok(Datum::Value(only.clone())),
            several => {
                let texts: Vec<String> = several.iter().map(value_text).collect();
                Ok(Datum::Text(format!("({})", texts.join(", "))))
            }
        }
    }

    /// Runs a function of the program beside its run.
    fn run_aside(
        &mut self,
        function: FunctionId,
        values: Vec<Value>,
        limits: &Limits,
    ) -> Result<Vec<Value>, EvaluationError> {
        let was_on = self.context.makes().suspend();
        let results = self.run_to_results(function, values, limits);
        self.context.makes().resume(was_on);
        results
    }

    fn run_to_results(
        &mut self,
        function: FunctionId,
        values: Vec<Value>,
        limits: &Limits,
    ) -> Result<Vec<Value>, EvaluationError> {
        let call = Invocation::new(&self.context, function, values);
        let mut call = call.map_err(|status| EvaluationError::CallFailed(status.to_string()))?;
        let (done, ended) = std::sync::mpsc::channel::<()>();
        std::thread::spawn(clock(limits.clone(), call.interrupt(), ended));
        for _ in 0..MAX_STOPS {
            match call.run(&mut self.context) {
                Outcome::Completed(results) => {
                    drop(done);
                    return Ok(results);
                }
                Outcome::Failed(failure) => {
                    return Err(EvaluationError::CallFailed(failure.status.to_string()));
                }
                Outcome::Stopped(vm::Stop::Interrupted(_)) => {
                    return Err(EvaluationError::CallEnded);
                }
                Outcome::Stopped(_) | Outcome::Yielded => {}
            }
        }
        Err(EvaluationError::TooManyBreakpoints)
    }

    /// Checks that a function, and all that it calls, changes nothing outside itself.
    fn check_pure(&self, function: FunctionId, name: &str) -> Result<(), EvaluationError> {
        let module = self.context.bytecode_module(function.module);
        let module = module.ok_or_else(|| EvaluationError::Native { name: name.to_owned() })?;
        let impure = |why| Err(EvaluationError::NotPure { name: name.to_owned(), why });
        let mut pending = vec![function.function];
        let mut seen = BTreeSet::new();
        while let Some(next) = pending.pop() {
            if !seen.insert(next) {
                continue;
            }
            for instruction in
                vmfb::instructions(module.function_bytecode(next)).map_while(Result::ok)
            {
                let mnemonic = instruction.op.mnemonic();
                if mnemonic.starts_with("global.store") {
                    return impure("it stores globals");
                }
                if mnemonic.starts_with("global.load") && mnemonic.ends_with(".ref") {
                    return impure("it uses objects in globals");
                }
                if matches!(instruction.op, Op::Break | Op::CondBreak | Op::Yield) {
                    return impure("it stops or gives up its turn");
                }
                match callee(&instruction) {
                    None => {}
                    Some(Callee::Internal(called)) => pending.push(called),
                    Some(Callee::Import(_)) => {
                        return impure("it calls imports");
                    }
                }
            }
        }
        let signature = self.context.signature(function).unwrap_or_default();
        let takes_ref = signature.arguments.contains(&abi::cconv::ValueType::Ref);
        if takes_ref {
            return impure("it may change the objects it is given");
        }
        Ok(())
    }
}

/// A value as an argument of a type.
fn call_argument(datum: &Datum, wanted: &abi::cconv::ValueType) -> Result<Value, EvaluationError> {
    use abi::cconv::ValueType;
    let number = || datum.number().ok_or_else(|| datum.is_no("number"));
    let integer = || match number()? {
        Number::Integer(value) => Ok(value),
        Number::Float(value) => {
            Err(EvaluationError::NotA { is: value.to_string(), wanted: "integer" })
        }
    };
    let too_large = |_| EvaluationError::ArgumentTooLarge;
    Ok(match wanted {
        ValueType::I32 => Value::I32(i32::try_from(integer()?).map_err(too_large)?),
        ValueType::I64 => Value::I64(i64::try_from(integer()?).map_err(too_large)?),
        ValueType::F32 => Value::F32(number()?.float() as f32),
        ValueType::F64 => Value::F64(number()?.float()),
        ValueType::Span(_) => {
            return Err(EvaluationError::TakesSpans);
        }
        ValueType::Ref => match datum {
            Datum::Value(value @ Value::Ref(_)) => value.clone(),
            other => return Err(other.is_no("reference")),
        },
    })
}

/// Interrupts a call that is cancelled or takes too long; ends with the call.
fn clock(limits: Limits, interrupt: vm::Interrupt, ended: Receiver<()>) -> impl FnOnce() + Send {
    const TICK: Duration = Duration::from_millis(20);
    let started = Instant::now();
    move || {
        while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if limits.cancel.is_cancelled() || started.elapsed() > limits.time {
                interrupt.request();
            }
        }
    }
}

/// A frame whose expressions may call functions.
struct ConsoleScope<'m> {
    machine: &'m mut Machine,
    frame: FrameId,
    limits: Limits,
}

impl ConsoleScope<'_> {
    fn plain(&self) -> FrameScope<'_> {
        self.machine.scope_at(self.machine.level, self.frame)
    }
}

impl Scope for ConsoleScope<'_> {
    fn find(&self, name: &str) -> Option<Item> {
        self.plain().find(name)
    }

    fn printed(&self, which: Printed) -> Result<Item, EvaluationError> {
        self.plain().printed(which)
    }

    fn node(&self, name: &str) -> Option<Item> {
        self.plain().node(name)
    }

    fn part(&self, path: &str) -> Option<Item> {
        self.plain().part(path)
    }

    fn global(&self, symbol: &str) -> Option<Item> {
        self.plain().global(symbol)
    }

    fn unknown_symbol(&self, symbol: &str) -> EvaluationError {
        self.plain().unknown_symbol(symbol)
    }

    fn file(&self, path: &str) -> Result<Datum, EvaluationError> {
        super::files::tensor(path, &self.limits)
    }

    fn dispatch_field(&self, field: &str) -> Option<Datum> {
        self.plain().dispatch_field(field)
    }

    fn member(&self, family: Family, index: usize) -> Result<Item, EvaluationError> {
        self.plain().member(family, index)
    }

    fn suggest(&self, name: &str) -> EvaluationError {
        self.plain().suggest(name)
    }

    fn reads_foreign_memory(&self) -> bool {
        self.machine.reads_foreign_memory
    }

    fn call(&mut self, function: &str, arguments: Vec<Datum>) -> Result<Datum, EvaluationError> {
        let limits = self.limits.clone();
        self.machine.call_pure(function, &arguments, &limits)
    }
}
