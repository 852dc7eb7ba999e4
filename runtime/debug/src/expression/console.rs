//! The console: what watches may, and calls of the program's own functions.
//!
//! Only functions are called that change nothing but what they made themselves: no global is
//! stored, no import is called (a device would see it), no reference is passed in. That is found
//! out from their bytecode. They run with fuel, in an invocation of their own, and can be
//! cancelled.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use vm::{FunctionId, Invocation, Outcome, Value};
use vmfb::{Callee, Op};

use super::Expression;
use super::budget::{Budget, Limits};
use super::datum::{Datum, Family, Item};
use super::error::ExpressionError;
use super::evaluate::{Evaluator, Scope};
use super::names::FrameScope;
use crate::debugger::Debugger;
use crate::inlined::FrameId;
use crate::view::Variable;

/// Stretches that a call may run for between two looks at the handle that cancels it.
const MAX_STOPS: usize = 1 << 20;

impl Debugger {
    /// The value of an expression, which may call pure functions of the program.
    ///
    /// # Errors
    /// The text is no expression, does not make sense here, takes too long, or calls what is not
    /// pure.
    pub fn evaluate_in_console(
        &mut self,
        frame: impl Into<FrameId>,
        expression: &str,
        limits: Limits,
    ) -> Result<Variable, ExpressionError> {
        let parsed = Expression::parse(expression)?;
        let budget = Budget::new(limits.clone());
        let mut scope = ConsoleScope { debugger: self, frame: frame.into(), limits };
        let item = Evaluator { scope: &mut scope, budget }.item(parsed.root())?;
        let trimmed = expression.trim();
        let shown = parsed.format.apply(item.variable(trimmed), &item.datum);
        Ok(Variable { evaluate_name: None, ..shown })
    }

    /// Calls a pure function.
    fn call_pure(
        &mut self,
        name: &str,
        arguments: &[Datum],
        limits: &Limits,
    ) -> Result<Datum, String> {
        let found = self.program.resolve_function(name);
        let position = found.locations.first().ok_or_else(|| {
            format!("there is no function {name}(), neither in the program nor in the language")
        })?;
        let function = position.function;
        self.check_pure(function, name)?;
        let signature = self.context.signature(function).unwrap_or_default();
        if signature.arguments.len() != arguments.len() {
            return Err(format!(
                "@{name} takes {} arguments, not {}: {signature}",
                signature.arguments.len(),
                arguments.len()
            ));
        }
        let mut values: Vec<Value> = Vec::with_capacity(arguments.len());
        for (argument, wanted) in arguments.iter().zip(&signature.arguments) {
            values.push(Self::call_argument(argument, wanted)?);
        }
        let results = self.run_aside(function, values, limits)?;
        match results.as_slice() {
            [] => Err(format!("@{name} returns nothing")),
            [only] => Ok(Datum::Value(only.clone())),
            several => {
                let texts: Vec<String> = several.iter().map(crate::inspect::value_text).collect();
                Ok(Datum::Text(format!("({})", texts.join(", "))))
            }
        }
    }

    fn run_aside(
        &mut self,
        function: FunctionId,
        values: Vec<Value>,
        limits: &Limits,
    ) -> Result<Vec<Value>, String> {
        let call = Invocation::new(&self.context, function, values);
        let mut call = call.map_err(|status| status.to_string())?;
        let (done, ended) = std::sync::mpsc::channel::<()>();
        std::thread::spawn(clock(limits.clone(), call.interrupt(), ended));
        for _ in 0..MAX_STOPS {
            match call.run(&mut self.context) {
                Outcome::Completed(results) => {
                    drop(done);
                    return Ok(results);
                }
                Outcome::Failed(failure) => return Err(failure.status.to_string()),
                Outcome::Stopped(vm::Stop::Interrupted(_)) => {
                    return Err("the call was cancelled or took too long".to_owned());
                }
                Outcome::Stopped(_) | Outcome::Yielded => {}
            }
        }
        Err("the call met too many breakpoints".to_owned())
    }

    /// Whether a function and all that it calls changes nothing outside of it.
    fn check_pure(&self, function: FunctionId, name: &str) -> Result<(), String> {
        let module = self.context.bytecode_module(function.module);
        let module = module.ok_or_else(|| format!("@{name} is native; it may change anything"))?;
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
                    return Err(format!("@{name} is not pure: it stores globals"));
                }
                if mnemonic.starts_with("global.load") && mnemonic.ends_with(".ref") {
                    return Err(format!("@{name} is not pure: it uses objects in globals"));
                }
                if matches!(instruction.op, Op::Break | Op::CondBreak | Op::Yield) {
                    return Err(format!("@{name} is not pure: it stops or gives up its turn"));
                }
                match callee(&instruction) {
                    None => {}
                    Some(Callee::Internal(called)) => pending.push(called),
                    Some(Callee::Import(_)) => {
                        return Err(format!("@{name} is not pure: it calls imports"));
                    }
                }
            }
        }
        let signature = self.context.signature(function).unwrap_or_default();
        let takes_ref = signature.arguments.contains(&abi::cconv::ValueType::Ref);
        if takes_ref {
            return Err(format!("@{name} is not pure: it may change the objects it is given"));
        }
        Ok(())
    }
}

/// Interrupts a call that is cancelled or takes too long, until the call has ended.
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

fn callee(instruction: &vmfb::decode::Instruction<'_>) -> Option<Callee> {
    instruction.operands.iter().find_map(|operand| match operand {
        vmfb::decode::Operand::Function(callee) => Some(*callee),
        _ => None,
    })
}

/// A frame, with calls.
struct ConsoleScope<'d> {
    debugger: &'d mut Debugger,
    frame: FrameId,
    limits: Limits,
}

impl ConsoleScope<'_> {
    fn plain(&self) -> FrameScope<'_> {
        FrameScope { debugger: self.debugger, frame: self.frame }
    }
}

impl Scope for ConsoleScope<'_> {
    fn find(&self, name: &str) -> Option<Item> {
        self.plain().find(name)
    }

    fn global(&self, symbol: &str) -> Option<Item> {
        self.plain().global(symbol)
    }

    fn member(&self, family: Family, index: usize) -> Result<Item, String> {
        self.plain().member(family, index)
    }

    fn suggest(&self, name: &str) -> String {
        self.plain().suggest(name)
    }

    fn reads_foreign_memory(&self) -> bool {
        self.debugger.foreign_memory
    }

    fn call(&mut self, function: &str, arguments: Vec<Datum>) -> Result<Datum, String> {
        let limits = self.limits.clone();
        self.debugger.call_pure(function, &arguments, &limits)
    }
}
