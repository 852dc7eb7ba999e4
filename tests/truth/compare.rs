//! Compares what the debugger showed with what the source computes.
//!
//! A stop stands for one of the executions of its line with its stack. The debugger does not say
//! which one. So the stops of a line and stack are assigned to its executions in order, each
//! execution at most once, with as few wrong values as possible. A value that is still wrong is
//! wrong in every reading of the session. If a line stops as often as it is executed, there is only
//! one reading.

use std::collections::{BTreeMap, BTreeSet};

use crate::count::Tally;
use crate::drive::{Evaluated, Frame, Manner, Session, Shown, Stop, is_of_device};
use crate::interpret::{Event, Level, Run};
use crate::program::{Block, Id, Program, Type, Value};
use crate::scope::Scopes;

/// A program, its true executions, and a session.
pub(crate) struct Case<'a> {
    pub(crate) program: &'a Program,
    pub(crate) scopes: &'a [Scopes],
    pub(crate) run: &'a Run,
    pub(crate) session: &'a Session,
    pub(crate) manner: &'a Manner,
}

type Stack = Vec<(String, Option<u32>)>;

/// Compares everything. Returns counts and findings.
pub(crate) fn compare(case: &Case<'_>) -> Tally {
    let mut tally = Tally::default();
    let mut groups: BTreeMap<Stack, Vec<usize>> = BTreeMap::new();
    for (index, stop) in case.session.stops.iter().enumerate() {
        if case.is_inside_dispatch(stop) {
            case.judge_dispatch(stop, &mut tally);
            continue;
        }
        groups.entry(stack_of(stop)).or_default().push(index);
    }
    let mut chances: Vec<Vec<usize>> = vec![Vec::new(); case.session.stops.len()];
    for (stack, stops) in &groups {
        let candidates = case.executions(stack);
        if candidates.is_empty() {
            case.report_foreign(stack, stops.len(), &mut tally);
            continue;
        }
        tally.add("stacks right", stops.len());
        for stop in stops {
            chances[*stop].clone_from(&candidates);
        }
        case.count_twice(stack, stops, &candidates, &mut tally);
        for (stop, event) in case.lay(stops, &candidates) {
            case.judge(&case.session.stops[stop], &case.run.events[event], &mut tally);
        }
    }
    case.count_missed(&mut tally);
    case.count_strays(&mut tally);
    case.count_wrong_steps(&mut tally);
    tally.add("stops", case.session.stops.len());
    tally.add("stops out of order", out_of_order(&chances));
    tally
}

/// How many stops must be removed so that the rest follow each other like executions.
fn out_of_order(chances: &[Vec<usize>]) -> usize {
    let chances: Vec<&Vec<usize>> = chances.iter().filter(|it| !it.is_empty()).collect();
    let bound = chances.iter().filter_map(|it| it.last()).max().map_or(0, |last| last + 1);
    // The longest sequence of stops that ends at each execution.
    let mut longest = vec![0; bound];
    for candidates in &chances {
        let mut best = 0;
        let mut from = 0;
        let mut next = Vec::new();
        for event in *candidates {
            best = longest[from..=*event].iter().copied().max().unwrap_or(0).max(best);
            from = event + 1;
            next.push((*event, best + 1));
        }
        for (event, length) in next {
            longest[event] = longest[event].max(length);
        }
    }
    chances.len() - longest.iter().copied().max().unwrap_or(0)
}

impl Case<'_> {
    fn name(&self, level: &Level) -> &str {
        &self.program.functions[level.function].name
    }

    fn is_inside_dispatch(&self, stop: &Stop) -> bool {
        let is_own = |name: &str| self.program.functions.iter().any(|it| it.name == name);
        let top = stop.frames.first();
        top.is_some_and(|top| !is_own(&top.name))
            && stop.frames.iter().any(|frame| is_of_device(&frame.name))
    }

    /// Judges a stop in a dispatch, which may be any execution of its line: a dispatch visits its
    /// elements in an order of its own, and has no caller in the source.
    fn judge_dispatch(&self, stop: &Stop, tally: &mut Tally) {
        let top = &stop.frames[0];
        let is_before = top.name.contains("command ");
        let events = self.run.events.iter();
        let here = events.filter(|event| Some(event.stack[0].line) == top.line);
        match here.min_by_key(|event| self.mistakes(stop, event)) {
            Some(event) => {
                tally.add(
                    if is_before { "stops before a dispatch" } else { "stops in dispatches" },
                    1,
                );
                let (frame, level) = (top, &event.stack[0]);
                self.judge_variables(stop, frame, level, tally);
                if !is_before {
                    let inside = self.taken_by_region(level);
                    self.judge_names(frame, level, Some(&inside), tally);
                    self.judge_evaluated(frame, level, tally);
                }
            }
            None if top.line.is_none() => tally.find("stops without a line", &top.name),
            None => {
                let text = format!("never executed: {}:{:?}", top.name, top.line);
                tally.find("stops phantom", &text);
            }
        }
    }

    /// Whether an execution has the stop's whole stack, with every line known.
    pub(crate) fn has_execution(&self, stop: &Stop) -> bool {
        stop.frames.iter().all(|frame| frame.line.is_some())
            && !self.executions(&stack_of(stop)).is_empty()
    }

    /// The executions with this stack.
    fn executions(&self, stack: &Stack) -> Vec<usize> {
        let is_same = |event: &Event| {
            event.stack.len() == stack.len()
                && event.stack.iter().zip(stack).all(|(level, (name, line))| {
                    self.name(level) == name && line.is_none_or(|line| line == level.line)
                })
        };
        let events = self.run.events.iter().enumerate();
        events.filter(|(_, event)| is_same(event)).map(|(index, _)| index).collect()
    }

    /// Reports a stack that no execution has.
    fn report_foreign(&self, stack: &Stack, stops: usize, tally: &mut Tally) {
        let is_here = |event: &Event| {
            let (name, line) = (self.name(&event.stack[0]), event.stack[0].line);
            stack.first().is_some_and(|top| top.0 == name && top.1.is_none_or(|it| it == line))
        };
        let text = stack.iter().map(|(name, line)| match line {
            Some(line) => format!("{name}:{line}"),
            None => format!("{name}:?"),
        });
        let text = text.collect::<Vec<_>>().join(" < ");
        if self.run.events.iter().any(is_here) {
            tally.find_all("stacks wrong", stops, &text);
        } else if stack.first().is_some_and(|(_, line)| line.is_none()) {
            tally.find_all("stops without a line", stops, &text);
        } else {
            tally.find_all("stops phantom", stops, &format!("never executed: {text}"));
        }
    }

    /// Counts the stops of a stack beyond its executions.
    fn count_twice(&self, stack: &Stack, stops: &[usize], candidates: &[usize], tally: &mut Tally) {
        let begun = candidates.iter().filter(|event| self.run.events[**event].begins_line).count();
        if matches!(self.manner, Manner::Steps(_)) || begun == 0 || stops.len() <= begun {
            return;
        }
        let Some((name, line)) = stack.first() else { return };
        let text = format!("{name}:{line:?}: {} stops, {begun} executions", stops.len());
        tally.find_all("stops twice", stops.len() - begun, &text);
    }

    /// Assigns stops to executions in order, with as few wrong values as possible.
    fn lay(&self, stops: &[usize], candidates: &[usize]) -> Vec<(usize, usize)> {
        let is_strict = matches!(self.manner, Manner::Breakpoints(_));
        let is_strict = is_strict && stops.len() <= candidates.len();
        let cost = |stop: usize, event: usize| {
            self.mistakes(&self.session.stops[stop], &self.run.events[event])
        };
        // best[s][e]: the fewest mistakes of the stops up to s, with stop s at execution e or
        // before.
        let mut best: Vec<Vec<usize>> = Vec::new();
        for (row, stop) in stops.iter().enumerate() {
            let mut line = Vec::with_capacity(candidates.len());
            for (column, event) in candidates.iter().enumerate() {
                let before = match (row, column, is_strict) {
                    (0, ..) => 0,
                    (_, 0, true) => usize::MAX,
                    (_, _, true) => best[row - 1][column - 1],
                    (_, _, false) => best[row - 1][column],
                };
                let here = before.saturating_add(cost(*stop, *event));
                let left = line.last().copied().unwrap_or(usize::MAX);
                line.push(here.min(left));
            }
            best.push(line);
        }
        let mut column = candidates.len() - 1;
        let mut laid = Vec::new();
        for row in (0..stops.len()).rev() {
            while column > 0 && best[row][column - 1] == best[row][column] {
                column -= 1;
            }
            laid.push((stops[row], candidates[column]));
            if is_strict {
                column = column.saturating_sub(1);
            }
        }
        laid.reverse();
        laid
    }

    /// How many shown values are wrong if the stop is this execution.
    fn mistakes(&self, stop: &Stop, event: &Event) -> usize {
        let pairs = stop.frames.iter().zip(&event.stack);
        let of_frame = |(frame, level): (&Frame, &std::rc::Rc<Level>)| {
            let shown = frame.variables.iter();
            shown
                .filter(|shown| {
                    self.value(level, &shown.name).is_some_and(|(id, value)| {
                        !shown.is_absent && !agrees(&shown.value, value, self.kind(level, id))
                    })
                })
                .count()
        };
        pairs.map(of_frame).sum()
    }

    fn kind(&self, level: &Level, id: Id) -> Type {
        self.program.functions[level.function].kind(id)
    }

    fn spelling(&self, level: &Level, id: Id) -> &str {
        &self.program.functions[level.function].values[id].name
    }

    /// The value with this name at a level of the stack.
    fn value(&self, level: &Level, name: &str) -> Option<(Id, Value)> {
        let mut all = level.values.iter().chain(&level.extras);
        all.find(|(id, _)| self.spelling(level, *id) == name).copied()
    }

    /// Whether the level is at the line of its function itself, which has a value of this name. The
    /// compiler gives that line to code anywhere in the function, so any of its values may exist.
    fn is_of_function(&self, level: &Level, name: &str) -> bool {
        let function = &self.program.functions[level.function];
        level.line == function.line && function.values.iter().any(|it| it.name == name)
    }

    fn judge(&self, stop: &Stop, event: &Event, tally: &mut Tally) {
        for (frame, level) in stop.frames.iter().zip(&event.stack) {
            self.judge_variables(stop, frame, level, tally);
            self.judge_names(frame, level, None, tally);
            self.judge_evaluated(frame, level, tally);
        }
    }

    fn judge_variables(&self, stop: &Stop, frame: &Frame, level: &Level, tally: &mut Tally) {
        let place = format!("{}:{} (stop at {})", frame.name, level.line, top(stop));
        let mut seen = BTreeSet::new();
        for shown in &frame.variables {
            let Shown { scope, name, value, kind, is_absent } = shown;
            if !name.starts_with('%') {
                tally.add("names that are not of the source", 1);
                continue;
            }
            if !seen.insert((scope, name)) {
                tally.find("names twice in a scope", &format!("{place}: {name} in {scope}"));
            }
            let Some((id, truth)) = self.value(level, name) else {
                if self.is_of_function(level, name) {
                    tally.add("names at the line of a function", 1);
                } else {
                    tally.find("names out of scope", &format!("{place}: {name} = {value}"));
                }
                continue;
            };
            let of = self.kind(level, id);
            if *is_absent {
                continue;
            }
            if agrees(value, truth, of) {
                tally.add("values right", 1);
            } else {
                let text = format!("{place}: {name} = {value}, is {}", shown_as(truth));
                tally.find("values wrong", &text);
            }
            if !kind.is_empty() && !is_type(kind, of) {
                let text = format!("{place}: {name} : {kind}, is {}", of.text());
                tally.find("types wrong", &text);
            }
        }
    }

    /// Checks that the names that the source still uses are answered.
    fn judge_names(
        &self,
        frame: &Frame,
        level: &Level,
        only: Option<&BTreeSet<Id>>,
        tally: &mut Tally,
    ) {
        let used = &self.scopes[level.function].used[level.number];
        let used = used.iter().filter(|id| only.is_none_or(|only| only.contains(*id)));
        let answer = |id: Id| {
            let name = self.spelling(level, id);
            frame.variables.iter().find(|shown| shown.name == *name)
        };
        let known = self.knowable(frame, level, &answer);
        for id in used {
            let name = self.spelling(level, *id);
            match answer(*id) {
                Some(shown) if !shown.is_absent => tally.add("used names with a value", 1),
                Some(Shown { value: reason, .. }) => {
                    tally.add("used names with a reason", 1);
                    let place = format!("{}:{}", frame.name, level.line);
                    if known.contains(id) {
                        tally.find("used names withheld", &format!("{place}: {name} = {reason}"));
                    }
                }
                None => {
                    let place = format!("{}:{}", frame.name, level.line);
                    tally.find("used names missing", &format!("{place}: {name}"));
                    if known.contains(id) {
                        tally.find("used names withheld", &format!("{place}: {name}"));
                    }
                }
            }
        }
    }

    /// The operands of the operations in the region around a place. A dispatch has no other values.
    fn taken_by_region(&self, level: &Level) -> BTreeSet<Id> {
        let function = &self.program.functions[level.function];
        let all = function.operations();
        let regions = all.iter().flat_map(|operation| &operation.regions);
        let is_here = |block: &&Block| block.operations.iter().any(|it| it.number == level.number);
        let around = regions.filter(is_here).flat_map(|block| &block.operations);
        around.flat_map(|operation| operation.operands.iter().copied()).collect()
    }

    /// Values that can certainly be known there: constants, shown values, values in registers, and
    /// pure computations from these.
    fn knowable<'a>(
        &self,
        frame: &Frame,
        level: &Level,
        answer: &dyn Fn(Id) -> Option<&'a Shown>,
    ) -> BTreeSet<Id> {
        let function = &self.program.functions[level.function];
        let made: BTreeMap<Id, _> = function
            .operations()
            .into_iter()
            .flat_map(|operation| operation.results.iter().map(move |id| (*id, operation)))
            .collect();
        let mut known = BTreeSet::new();
        for (id, value) in &level.values {
            let is_shown = answer(*id).is_some_and(|shown| !shown.is_absent);
            let kind = function.kind(*id);
            let is_held = is_striking(*value)
                && frame.registers.iter().any(|text| agrees(text, *value, kind));
            let is_computed = made.get(id).is_some_and(|operation| {
                operation.kind.is_pure() && operation.operands.iter().all(|it| known.contains(it))
            });
            if is_shown || is_held || is_computed {
                known.insert(*id);
            }
        }
        known
    }

    /// Checks that evaluating a name gives the value that the scopes show.
    fn judge_evaluated(&self, frame: &Frame, level: &Level, tally: &mut Tally) {
        let place = format!("{}:{}", frame.name, level.line);
        for (name, answer) in &frame.evaluated {
            let shown = frame.variables.iter().filter(|shown| shown.name == *name);
            let shown: Vec<&str> = shown.map(|shown| shown.value.as_str()).collect();
            let is_in_scope = self.value(level, name).is_some();
            match answer {
                Ok(Evaluated { value, .. }) if shown.iter().any(|shown| shown == value) => {
                    tally.add("evaluated", 1);
                }
                Ok(Evaluated { value, .. }) if !shown.is_empty() => {
                    let text = format!("{place}: {name} is {value}, shown as {}", shown[0]);
                    tally.find("evaluated otherwise", &text);
                }
                Ok(Evaluated { value, is_absent: false }) if !is_in_scope => {
                    let text = format!("{place}: {name} is {value}");
                    tally.find("evaluated out of scope", &text);
                }
                Err(error) if !shown.is_empty() => {
                    let text = format!("{place}: {name}: {error}, shown as {}", shown[0]);
                    tally.find("evaluated otherwise", &text);
                }
                _ => {}
            }
        }
    }

    /// Counts executions without a stop that cannot be optimised away, on lines with a verified
    /// breakpoint.
    fn count_missed(&self, tally: &mut Tally) {
        let breakpoints = &self.session.breakpoints;
        for breakpoint in breakpoints {
            if !breakpoint.is_verified {
                tally.add("breakpoints refused", 1);
                if breakpoint.message.is_empty() {
                    let text = format!("line {}", breakpoint.asked);
                    tally.find("breakpoints refused without a reason", &text);
                }
            } else if breakpoint.line == breakpoint.asked {
                tally.add("breakpoints in place", 1);
            } else {
                tally.add("breakpoints moved", 1);
            }
        }
        let lines: BTreeSet<u32> =
            breakpoints.iter().filter(|it| it.is_verified).map(|it| it.line).collect();
        if !self.session.is_over {
            return;
        }
        for line in lines {
            let events = self.run.events.iter().filter(|event| event.stack[0].line == line);
            let certain = events.filter(|event| event.is_certain && event.begins_line).count();
            let stops = self.session.stops.iter();
            let stops = stops.filter(|it| it.frames.first().and_then(|top| top.line) == Some(line));
            let stops = stops.count();
            if stops < certain {
                let text = format!("line {line}: {stops} stops, {certain} executions");
                tally.find_all("stops missed", certain - stops, &text);
            }
        }
    }

    /// Counts wrong steps: `next` must not end in a callee, and `stepOut` must end in a caller.
    fn count_wrong_steps(&self, tally: &mut Tally) {
        for pair in self.session.stops.windows(2) {
            let (before, after) = (pair[0].frames.len(), pair[1].frames.len());
            let is_wrong = match pair[1].command {
                Some("next") => after > before,
                Some("stepOut") => after >= before,
                Some("stepIn") => after > before + 1,
                _ => false,
            };
            let is_of_functions =
                !pair.iter().any(|stop| stop.frames.iter().any(|it| is_of_device(&it.name)));
            if is_wrong && is_of_functions && pair[1].reason == "step" {
                let command = pair[1].command.unwrap_or_default();
                let text = format!("{command}: {} to {}", top(&pair[0]), top(&pair[1]));
                tally.find("steps wrong", &text);
            }
        }
    }

    /// Counts stops at lines without a breakpoint.
    fn count_strays(&self, tally: &mut Tally) {
        if !matches!(self.manner, Manner::Breakpoints(_)) {
            return;
        }
        for stop in &self.session.stops {
            let line = stop.frames.first().and_then(|top| top.line);
            let has_one = self
                .session
                .breakpoints
                .iter()
                .any(|it| it.is_verified && line.is_none_or(|line| it.line == line));
            if !has_one {
                let text = format!("stopped ({}) at line {line:?} without one", stop.reason);
                tally.find("stops phantom", &text);
            }
        }
    }
}

fn stack_of(stop: &Stop) -> Stack {
    stop.frames.iter().map(|frame| (frame.name.clone(), frame.line)).collect()
}

fn top(stop: &Stop) -> String {
    let top = stop.frames.first();
    top.map_or(String::new(), |top| format!("{}:{}", top.name, top.line.unwrap_or(0)))
}

/// Whether the value is unlikely to be somewhere by chance.
fn is_striking(value: Value) -> bool {
    match value {
        Value::Integer(value) => !(-32..=300).contains(&value),
        Value::F32(value) => value.fract() != 0.0,
        Value::F64(value) => value.fract() != 0.0,
        Value::List(_) | Value::Tensor(_) => false,
    }
}

/// Whether a text shows the value.
fn agrees(text: &str, value: Value, kind: Type) -> bool {
    match value {
        Value::Integer(value) => match text {
            "true" => kind == Type::I1 && value == 1,
            "false" => kind == Type::I1 && value == 0,
            _ => text.parse() == Ok(value),
        },
        Value::F32(value) => {
            text.parse().is_ok_and(|it: f32| it == value || (it.is_nan() && value.is_nan()))
        }
        Value::F64(value) => {
            text.parse().is_ok_and(|it: f64| it == value || (it.is_nan() && value.is_nan()))
        }
        // The form of a list is not checked here, but it must not be a number.
        Value::List(_) | Value::Tensor(_) => text.parse::<f64>().is_err(),
    }
}

/// Whether the debugger may show this type. The VM has no i1 and no index.
fn is_type(text: &str, kind: Type) -> bool {
    match kind {
        Type::I1 => text == "i1" || text == "i32",
        Type::Index => text == "index" || text == "i64",
        Type::List => text.contains("list"),
        Type::Tensor(..) => text.contains("tensor") || text.contains("buffer"),
        _ => text == kind.text(),
    }
}

fn shown_as(value: Value) -> String {
    match value {
        Value::Integer(value) => value.to_string(),
        Value::F32(value) => value.to_string(),
        Value::F64(value) => value.to_string(),
        Value::List(_) => "a list".to_owned(),
        Value::Tensor(_) => "a tensor".to_owned(),
    }
}

/// Whether the program printed what the source computes.
pub(crate) fn is_result(printed: &[String], run: &Run, program: &Program) -> bool {
    let returned = &program.entry().results;
    printed.len() == run.results.len()
        && printed.iter().zip(run.results.iter().zip(returned)).all(|(text, (value, kind))| {
            match value {
                Value::Tensor(tensor) => is_tensor(text, &run.tensors[*tensor]),
                value => is_near(text, *value) || agrees(text, *value, *kind),
            }
        })
}

/// Whether a text is the float as the runtime prints it, with six digits.
fn is_near(text: &str, value: Value) -> bool {
    let value = match value {
        Value::F32(value) => f64::from(value),
        Value::F64(value) => value,
        Value::Integer(_) | Value::List(_) | Value::Tensor(_) => return false,
    };
    text.parse().is_ok_and(|it: f64| {
        it == value || (it.is_nan() && value.is_nan()) || (it - value).abs() <= value.abs() * 1e-5
    })
}

/// Whether the numbers of a text are the tensor's.
fn is_tensor(text: &str, tensor: &[f32]) -> bool {
    let numbers = text.split(['[', ']', ' ']).filter(|it| !it.is_empty());
    let numbers: Vec<&str> = numbers.collect();
    numbers.len() == tensor.len()
        && numbers.iter().zip(tensor).all(|(text, value)| is_near(text, Value::F32(*value)))
}

/// Values on one line.
pub(crate) fn line_of(values: &[Value]) -> String {
    values.iter().map(|value| shown_as(*value)).collect::<Vec<_>>().join(" ")
}
