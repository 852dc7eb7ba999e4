//! The loop. One source, instantiated twice: [`Free`] runs the code with breakpoints patched in and
//! asks nothing; an observer's instance runs the original code and returns to the top of the loop
//! before every instruction to ask.
//!
//! State of the running frame (registers, position) is in locals and written back where somebody may
//! look: at calls, when leaving, and in the observing instance before every instruction. Operations
//! that can fail, and everything rare, are functions of other files; what is here is moving operands.

use vmfb::Register;

use crate::activity::NativeFrame;
use crate::code::{Code, SYNTHETIC, Target};
use crate::context::{Context, LinkedKind};
use crate::cursor::CheckedCode;
use crate::invocation::{Invocation, Observer, Position, Reaction};
use crate::native::NativeCall;
use crate::native::NativeReturn;
use crate::objects::{self, check_type};
use crate::ops::{convert, float, int};
use crate::stack::WINDOW;
use crate::status::{Status, StatusCode};
use crate::transfer::{
    call_plan, collect, enter, gather, give_back, is_move, read_checked_ref, read_ref, ref_index,
    scatter,
};
use crate::value::{Ref, Value};

/// Why the loop ended.
pub(crate) enum Exit {
    Completed(Vec<Value>),
    Yielded,
    Breakpoint,
    Requested,
    Interrupted,
    Observed,
    /// A native function goes on in steps, or waits.
    Suspended,
    Failed(Status),
}

/// What distinguishes the two instances.
pub(crate) trait Hooks {
    /// Whether [`Self::before`] is to be called.
    const OBSERVES: bool;

    /// Called before every instruction.
    fn before(&mut self, context: &Context, invocation: &Invocation, at: Position) -> Reaction;
}

/// Runs without looking.
pub(crate) struct Free;

impl Hooks for Free {
    const OBSERVES: bool = false;

    fn before(&mut self, _: &Context, _: &Invocation, _: Position) -> Reaction {
        Reaction::Continue
    }
}

impl Hooks for &mut dyn Observer {
    const OBSERVES: bool = true;

    fn before(&mut self, context: &Context, invocation: &Invocation, at: Position) -> Reaction {
        self.before_instruction(context, invocation, at)
    }
}

/// Runs the innermost frame, and whatever it calls and returns to, until something ends it.
///
/// `is_resuming`: the observer was asked about the first instruction already.
#[allow(clippy::too_many_lines, reason = "one arm an instruction; everything else is elsewhere")]
pub(crate) fn run_loop<H: Hooks>(
    context: &mut Context,
    invocation: &mut Invocation,
    hooks: &mut H,
    mut is_resuming: bool,
) -> Exit {
    let mut budget = invocation.meter.take();

    'frame: loop {
        let Some(frame) = invocation.stack.frames.last() else {
            return Exit::Completed(Vec::new());
        };
        let (slot_index, index, ref_count) = (frame.slot, frame.index, frame.ref_count as usize);
        let base = frame.base();
        if H::OBSERVES {
            let code = context.code(slot_index);
            let is_real = code.offsets.get(index as usize).is_some_and(|at| *at != SYNTHETIC);
            if is_real && !std::mem::take(&mut is_resuming) {
                let slot = &context.functions[slot_index as usize];
                if slot.is_armed(index) {
                    invocation.meter.give_back(budget);
                    return Exit::Breakpoint;
                }
                let at = Position { function: slot.id(), offset: code.offset_at(index) };
                if hooks.before(context, invocation, at) == Reaction::Stop {
                    invocation.meter.give_back(budget);
                    return Exit::Observed;
                }
            }
        }
        context.code(slot_index);
        let Context { limits, modules, functions, globals, .. } = &mut *context;
        let slot = &functions[slot_index as usize];
        let Some(code) = slot.code.get() else { return Exit::Completed(Vec::new()) };
        let instructions: &CheckedCode = match &slot.armed {
            _ if H::OBSERVES => &code.instructions,
            Some(armed) => &armed.instructions,
            None => &code.fused,
        };
        let module = &modules[slot.module.index()];
        let globals = &mut globals[slot.module.index()];
        let stack = &mut invocation.stack;
        let Some(pairs) = stack.words[base.word..].first_chunk_mut::<WINDOW>() else {
            // `Stack::push` keeps a window behind every frame.
            return Exit::Failed(Status::internal("the stack is shorter than its frames"));
        };
        let refs = &mut stack.refs[base.reference..base.reference + ref_count];
        let Some(mut cursor) = instructions.cursor(index as usize) else {
            return Exit::Failed(Status::internal("a frame outside of its function"));
        };

        // Operands, by how they are looked at.
        macro_rules! words {
            () => {
                bytemuck::must_cast_mut::<[u64; WINDOW], [u32; 2 * WINDOW]>(pairs)
            };
        }
        macro_rules! i32 {
            ($register:expr) => {
                words!()[usize::from($register)].cast_signed()
            };
        }
        macro_rules! i64 {
            ($register:expr) => {
                pairs[usize::from($register)].cast_signed()
            };
        }
        macro_rules! f32 {
            ($register:expr) => {
                f32::from_bits(words!()[usize::from($register)])
            };
        }
        macro_rules! f64 {
            ($register:expr) => {
                f64::from_bits(pairs[usize::from($register)])
            };
        }
        macro_rules! set {
            (i32, $register:expr, $value:expr) => {{
                let value: i32 = $value;
                words!()[usize::from($register)] = value.cast_unsigned();
            }};
            (i64, $register:expr, $value:expr) => {{
                let value: i64 = $value;
                pairs[usize::from($register)] = value.cast_unsigned();
            }};
            (f32, $register:expr, $value:expr) => {{
                let value: f32 = $value;
                words!()[usize::from($register)] = value.to_bits();
            }};
            (f64, $register:expr, $value:expr) => {{
                let value: f64 = $value;
                pairs[usize::from($register)] = value.to_bits();
            }};
            (bool, $register:expr, $value:expr) => {
                set!(i32, $register, i32::from($value))
            };
        }
        macro_rules! get {
            (i32, $register:expr) => {
                i32!($register)
            };
            (i64, $register:expr) => {
                i64!($register)
            };
            (f32, $register:expr) => {
                f32!($register)
            };
            (f64, $register:expr) => {
                f64!($register)
            };
        }
        macro_rules! reference {
            ($register:expr) => {
                &refs[ref_index($register)]
            };
        }
        macro_rules! index {
            () => {
                instructions.index(cursor)
            };
        }
        // To a target of the running instruction, and of no other.
        macro_rules! jump {
            ($target:expr) => {{
                // SAFETY: the cursor is in `instructions`, and the target is one that `instr` has.
                cursor = unsafe { cursor.jump(instructions, $target) };
                if H::OBSERVES {
                    stack.set_index(index!());
                    continue 'frame;
                }
                continue;
            }};
        }
        macro_rules! leave {
            ($exit:expr) => {{
                stack.set_index(index!());
                invocation.meter.give_back(budget);
                return $exit;
            }};
        }
        macro_rules! ok {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(status) => leave!(Exit::Failed(status)),
                }
            };
        }
        macro_rules! poll {
            () => {
                poll!(index!())
            };
            ($index:expr) => {
                budget -= 1;
                if budget == 0 {
                    match invocation.meter.refill() {
                        Ok(more) => budget = more,
                        Err(exit) => {
                            stack.set_index($index);
                            return exit;
                        }
                    }
                }
            };
        }

        loop {
            // Fields are read where they are used: operands in registers of the host would leave none
            // for the loop's own state.
            let mut instr = cursor.instr();

            // The second half of a pair.
            macro_rules! second {
                () => {
                    // SAFETY: the first half of a pair falls through to the second.
                    cursor = unsafe { cursor.next() };
                    instr = cursor.instr();
                };
            }

            macro_rules! branch {
                ($condition:expr) => {{
                    if $condition {
                        // Keeps the two ways apart: a target selected without a branch would make
                        // the host wait for the condition before it fetches the next instruction.
                        std::hint::black_box(());
                        jump!(instr.low());
                    }
                    jump!(instr.high());
                }};
            }

            // Families of instructions that differ in type and function only.
            macro_rules! unary {
                ($from:ident -> $to:ident, $function:expr) => {{
                    let operand = get!($from, instr.a);
                    set!($to, instr.b, $function(operand));
                }};
            }
            macro_rules! binary {
                ($from:ident -> $to:ident, $function:expr) => {{
                    let (left, right) = (get!($from, instr.a), get!($from, instr.b));
                    set!($to, instr.c, $function(left, right));
                }};
            }
            macro_rules! compare_and_jump {
                ($holds:expr, $result:expr $(, $poll:ident)?) => {{
                    let holds: bool = $holds;
                    set!(bool, $result, holds);
                    // A stop is before the jump, which stands by itself behind this instruction.
                    $($poll!(index!() + 1);)?
                    branch!(holds);
                }};
            }
            macro_rules! jump_if {
                ($type:ident, $function:expr $(, $poll:ident)?) => {{
                    let (left, right) = (get!($type, instr.a), get!($type, instr.b));
                    compare_and_jump!($function(&left, &right), instr.c $(, $poll)?)
                }};
            }
            macro_rules! jump_if_not_zero {
                ($type:ident $(, $poll:ident)?) => {{
                    let holds = get!($type, instr.a) != 0;
                    compare_and_jump!(holds, instr.b $(, $poll)?)
                }};
            }
            macro_rules! fallible {
                ($type:ident, $function:path) => {{
                    let (left, right) = (get!($type, instr.a), get!($type, instr.b));
                    set!($type, instr.c, ok!($function(left, right)));
                }};
            }
            macro_rules! ternary {
                ($type:ident, $function:path) => {{
                    let third = get!($type, instr.c);
                    let (first, second) = (get!($type, instr.a), get!($type, instr.b));
                    set!($type, instr.lane(0), $function(first, second, third));
                }};
            }
            macro_rules! shift {
                ($type:ident, $function:path) => {{
                    let amount = i32!(instr.b);
                    let operand = get!($type, instr.a);
                    set!($type, instr.c, $function(operand, amount));
                }};
            }
            macro_rules! select {
                ($type:ident) => {{
                    let chosen = if i32!(instr.a) != 0 { instr.b } else { instr.c };
                    let value = get!($type, chosen);
                    set!($type, instr.lane(0), value);
                }};
            }
            macro_rules! switch {
                ($type:ident) => {{
                    let index = i32!(instr.a);
                    let values = &code.lists[instr.low()];
                    let chosen = usize::try_from(index).ok().and_then(|index| values.get(index));
                    let value = get!($type, *chosen.unwrap_or(&instr.b));
                    set!($type, instr.c, value);
                }};
            }
            macro_rules! load {
                ($to:ident, $raw:ty) => {{
                    let index = i64!(instr.b).cast_unsigned();
                    let buffer = ok!(objects::buffer(reference!(instr.a), "source_buffer"));
                    let value = <$raw>::from_le_bytes(ok!(buffer.load(index)));
                    set!($to, instr.c, value.into());
                }};
            }
            macro_rules! store {
                ($from:ident, $raw:ty) => {{
                    let index = i64!(instr.b).cast_unsigned();
                    let value = get!($from, instr.c) as $raw;
                    let buffer = ok!(objects::buffer(reference!(instr.a), "target_buffer"));
                    ok!(buffer.store(index, value.to_le_bytes()));
                }};
            }
            macro_rules! fill {
                ($from:ident, $raw:ty) => {{
                    let (index, length) = (i64!(instr.b), i64!(instr.c));
                    let value = get!($from, instr.lane(0)) as $raw;
                    let buffer = ok!(objects::buffer(reference!(instr.a), "buffer"));
                    let (index, length) = (index.cast_unsigned(), length.cast_unsigned());
                    ok!(buffer.fill(index, length, value.to_le_bytes()));
                }};
            }
            macro_rules! list_get {
                ($type:ident, $function:ident) => {{
                    let index = i32!(instr.b).cast_unsigned();
                    let list = ok!(objects::list(reference!(instr.a)));
                    set!($type, instr.c, ok!(list.$function(index)));
                }};
            }
            macro_rules! list_set {
                ($type:ident, $variant:ident) => {{
                    let index = i32!(instr.b).cast_unsigned() as usize;
                    let value = Value::$variant(get!($type, instr.c));
                    ok!(ok!(objects::list(reference!(instr.a))).set(index, value));
                }};
            }
            macro_rules! global_load {
                ($type:ident, $offset:expr, $register:expr) => {{
                    let offset = $offset;
                    set!($type, $register, $type::from_le_bytes(ok!(globals.load(offset))));
                }};
            }
            macro_rules! global_store {
                ($type:ident, $offset:expr, $register:expr) => {{
                    let offset = $offset;
                    ok!(globals.store(offset, get!($type, $register).to_le_bytes()));
                }};
            }

            let code_here = instr.code;
            match code_here {
                // The machine's own.
                Code::Breakpoint => leave!(Exit::Breakpoint),
                Code::CopyI32 => set!(i32, instr.b, i32!(instr.a)),
                Code::CopyI64 => set!(i64, instr.b, i64!(instr.a)),
                Code::CopyRef => {
                    let value = read_ref(refs, instr.a);
                    refs[ref_index(instr.b)] = value;
                }
                Code::Block => {}
                Code::Poll => {
                    poll!();
                }
                Code::Jump => jump!(instr.low()),
                Code::JumpBack => {
                    poll!();
                    jump!(instr.low());
                }
                Code::CondJump => {
                    branch!(i32!(instr.a) != 0);
                }
                Code::CondJumpBack => {
                    poll!();
                    branch!(i32!(instr.a) != 0);
                }
                Code::JumpEQI32 => jump_if!(i32, i32::eq),
                Code::JumpNEI32 => jump_if!(i32, i32::ne),
                Code::JumpLTI32S => jump_if!(i32, i32::lt),
                Code::JumpLTI32U => jump_if!(i32, |a: &i32, b: &i32| int::i32s::lt_u(*a, *b)),
                Code::JumpNZI32 => jump_if_not_zero!(i32),
                Code::JumpEQI64 => jump_if!(i64, i64::eq),
                Code::JumpNEI64 => jump_if!(i64, i64::ne),
                Code::JumpLTI64S => jump_if!(i64, i64::lt),
                Code::JumpLTI64U => jump_if!(i64, |a: &i64, b: &i64| int::i64s::lt_u(*a, *b)),
                Code::JumpNZI64 => jump_if_not_zero!(i64),
                Code::JumpEQI32Back => jump_if!(i32, i32::eq, poll),
                Code::JumpNEI32Back => jump_if!(i32, i32::ne, poll),
                Code::JumpLTI32SBack => jump_if!(i32, i32::lt, poll),
                Code::JumpLTI32UBack => {
                    jump_if!(i32, |a: &i32, b: &i32| int::i32s::lt_u(*a, *b), poll);
                }
                Code::JumpNZI32Back => jump_if_not_zero!(i32, poll),
                Code::JumpEQI64Back => jump_if!(i64, i64::eq, poll),
                Code::JumpNEI64Back => jump_if!(i64, i64::ne, poll),
                Code::JumpLTI64SBack => jump_if!(i64, i64::lt, poll),
                Code::JumpLTI64UBack => {
                    jump_if!(i64, |a: &i64, b: &i64| int::i64s::lt_u(*a, *b), poll);
                }
                Code::JumpNZI64Back => jump_if_not_zero!(i64, poll),
                Code::JumpTable => {
                    let targets = &code.tables[instr.low()];
                    let index = usize::try_from(i32!(instr.a)).unwrap_or(usize::MAX);
                    let index = index.min(targets.len().saturating_sub(1));
                    jump!(targets[index] as usize);
                }
                Code::Call => {
                    poll!();
                    let plan = &code.calls[instr.low()];
                    match plan.target {
                        Target::Bytecode(callee) => {
                            let slot = &functions[callee as usize];
                            stack.set_index(index!());
                            let size = (slot.word_count, slot.ref_count);
                            if let Err(status) = enter(stack, base, callee, size, plan, limits) {
                                leave!(Exit::Failed(status));
                            }
                            if !H::OBSERVES {
                                // Past the block marker, which is there for those who count.
                                stack.set_index(1);
                            }
                            continue 'frame;
                        }
                        Target::Native(module, function) => {
                            let LinkedKind::Native(native) = &modules[module as usize].kind else {
                                leave!(Exit::Failed(Status::internal("a native call to bytecode")))
                            };
                            let native = &native.functions[function as usize];
                            let values = gather(plan, pairs, refs);
                            let call = NativeCall::new(&values, &native.signature, limits);
                            match (native.body)(call) {
                                Ok(NativeReturn::Results(results)) => {
                                    ok!(scatter(results, plan, pairs, refs));
                                    jump!(plan.next as usize);
                                }
                                Ok(returned) => {
                                    let depth = stack.frames.len();
                                    let frame =
                                        NativeFrame::new((module, function), depth, returned);
                                    invocation.natives.extend(frame);
                                    stack.floor = depth;
                                    leave!(Exit::Suspended);
                                }
                                Err(status) => {
                                    invocation.failed_native = Some((module, function));
                                    leave!(Exit::Failed(status));
                                }
                            }
                        }
                        Target::Missing(import) => {
                            leave!(Exit::Failed(objects::missing_import(module, import)))
                        }
                    }
                }
                Code::Return => {
                    let list = &code.lists[instr.low()];
                    let [.., caller, _] = &stack.frames[stack.floor..] else {
                        let signature = modules[slot.module.index()].signature(slot.ordinal);
                        let results = collect(stack, base, list, signature);
                        stack.pop();
                        invocation.meter.give_back(budget);
                        return Exit::Completed(results);
                    };
                    let plan = functions[caller.slot as usize].code.get();
                    let Some(plan) = plan.and_then(|code| call_plan(code, caller.index)) else {
                        leave!(Exit::Failed(Status::internal("a return to no call")))
                    };
                    let caller = caller.base();
                    give_back(stack, base, caller, list, plan);
                    stack.pop();
                    stack.set_index(plan.next as usize);
                    continue 'frame;
                }
                Code::Fail => {
                    let code_number = i32!(instr.a);
                    // The reference keeps five bits of the number.
                    if let Some(status) = StatusCode::from_number(code_number as u32 & 0x1F) {
                        let message = &*code.texts[instr.low()];
                        leave!(Exit::Failed(Status::new(status, message)));
                    }
                }
                Code::Yield => {
                    stack.set_index(instr.low());
                    invocation.meter.give_back(budget);
                    return Exit::Yielded;
                }
                Code::Stop => {
                    stack.set_index(instr.low());
                    invocation.meter.give_back(budget);
                    return Exit::Requested;
                }
                Code::CondStop => {
                    if i32!(instr.a) != 0 {
                        stack.set_index(instr.low());
                        invocation.meter.give_back(budget);
                        return Exit::Requested;
                    }
                    jump!(instr.low());
                }
                Code::DropMoved => {
                    for register in &code.lists[instr.low()] {
                        if Register(*register).is_move() {
                            refs[ref_index(*register)] = Ref::Null;
                        }
                    }
                }
                Code::EndOfFunction => leave!(Exit::Failed(Status::failed_precondition(
                    "control ran past the last instruction of the function"
                ))),

                // Pairs.
                Code::AddI32AddI32 => {
                    binary!(i32 -> i32, int::i32s::add);
                    second!();
                    binary!(i32 -> i32, int::i32s::add);
                }
                Code::AddI64AddI64 => {
                    binary!(i64 -> i64, int::i64s::add);
                    second!();
                    binary!(i64 -> i64, int::i64s::add);
                }
                Code::AddI32JumpLTI32SBack => {
                    binary!(i32 -> i32, int::i32s::add);
                    second!();
                    jump_if!(i32, i32::lt, poll);
                }
                Code::AddI64JumpLTI64SBack => {
                    binary!(i64 -> i64, int::i64s::add);
                    second!();
                    jump_if!(i64, i64::lt, poll);
                }
                Code::MulI32AddI32 => {
                    binary!(i32 -> i32, int::i32s::mul);
                    second!();
                    binary!(i32 -> i32, int::i32s::add);
                }
                Code::MulI64AddI64 => {
                    binary!(i64 -> i64, int::i64s::mul);
                    second!();
                    binary!(i64 -> i64, int::i64s::add);
                }
                Code::ShlI64XorI64 => {
                    shift!(i64, int::i64s::shl);
                    second!();
                    binary!(i64 -> i64, |a: i64, b: i64| a ^ b);
                }
                Code::AndI64JumpNZI64 => {
                    binary!(i64 -> i64, |a: i64, b: i64| a & b);
                    second!();
                    jump_if_not_zero!(i64);
                }
                Code::ConstI32JumpLTI32S => {
                    set!(i32, instr.a, instr.imm as i32);
                    second!();
                    jump_if!(i32, i32::lt);
                }
                Code::MulF32AddF32 => {
                    binary!(f32 -> f32, |a: f32, b: f32| a * b);
                    second!();
                    binary!(f32 -> f32, |a: f32, b: f32| a + b);
                }
                Code::AddF32AddF32 => {
                    binary!(f32 -> f32, |a: f32, b: f32| a + b);
                    second!();
                    binary!(f32 -> f32, |a: f32, b: f32| a + b);
                }
                Code::MulF32MulF32 => {
                    binary!(f32 -> f32, |a: f32, b: f32| a * b);
                    second!();
                    binary!(f32 -> f32, |a: f32, b: f32| a * b);
                }
                Code::MulF64MulF64 => {
                    binary!(f64 -> f64, |a: f64, b: f64| a * b);
                    second!();
                    binary!(f64 -> f64, |a: f64, b: f64| a * b);
                }
                Code::MulF64AddF64 => {
                    binary!(f64 -> f64, |a: f64, b: f64| a * b);
                    second!();
                    binary!(f64 -> f64, |a: f64, b: f64| a + b);
                }
                Code::BufferLoadI32BufferLoadI32 => {
                    load!(i32, i32);
                    second!();
                    load!(i32, i32);
                }

                // Globals.
                Code::GlobalLoadI32 => global_load!(i32, instr.low(), instr.a),
                Code::GlobalStoreI32 => global_store!(i32, instr.low(), instr.a),
                Code::GlobalLoadI64 => global_load!(i64, instr.low(), instr.a),
                Code::GlobalStoreI64 => global_store!(i64, instr.low(), instr.a),
                Code::GlobalLoadIndirectI32 => {
                    global_load!(i32, i32!(instr.a) as u32 as usize, instr.b);
                }
                Code::GlobalStoreIndirectI32 => {
                    global_store!(i32, i32!(instr.a) as u32 as usize, instr.b);
                }
                Code::GlobalLoadIndirectI64 => {
                    global_load!(i64, i32!(instr.a) as u32 as usize, instr.b);
                }
                Code::GlobalStoreIndirectI64 => {
                    global_store!(i64, i32!(instr.a) as u32 as usize, instr.b);
                }
                Code::GlobalLoadRef => {
                    let global = ok!(globals.reference(instr.low()));
                    ok!(check_type(&module.types()[instr.high()], global));
                    refs[ref_index(instr.a)] =
                        if is_move(instr.a) { std::mem::take(global) } else { global.clone() };
                }
                Code::GlobalLoadIndirectRef => {
                    let global = ok!(globals.reference(i32!(instr.a) as u32 as usize));
                    ok!(check_type(&module.types()[instr.high()], global));
                    refs[ref_index(instr.b)] =
                        if is_move(instr.b) { std::mem::take(global) } else { global.clone() };
                }
                Code::GlobalStoreRef => {
                    let global = ok!(globals.reference(instr.low()));
                    let ref_type = &module.types()[instr.high()];
                    *global = ok!(read_checked_ref(refs, instr.a, ref_type));
                }
                Code::GlobalStoreIndirectRef => {
                    let global = ok!(globals.reference(i32!(instr.a) as u32 as usize));
                    let ref_type = &module.types()[instr.high()];
                    *global = ok!(read_checked_ref(refs, instr.b, ref_type));
                }

                // Constants and refs.
                Code::ConstI32 => set!(i32, instr.a, instr.imm as i32),
                Code::ConstI64 => set!(i64, instr.a, instr.imm.cast_signed()),
                Code::ConstRefZero => refs[ref_index(instr.a)] = Ref::Null,
                Code::ConstRefRodata => {
                    refs[ref_index(instr.a)] = module.rodata()[instr.low()].clone();
                }
                Code::DiscardRefs => {
                    for register in &code.lists[instr.low()] {
                        refs[ref_index(*register)] = Ref::Null;
                    }
                }
                Code::CastAnyRef => {
                    let ref_type = &module.types()[instr.high()];
                    let value = ok!(read_checked_ref(refs, instr.a, ref_type));
                    refs[ref_index(instr.b)] = value;
                }

                // Lists.
                Code::ListAlloc => {
                    let capacity = i32!(instr.a).cast_unsigned() as usize;
                    let element_type = module.types()[instr.high()].clone();
                    let list = ok!(objects::new_list(element_type, capacity, limits));
                    refs[ref_index(instr.b)] = list;
                }
                Code::ListReserve => {
                    let capacity = i32!(instr.b).cast_unsigned() as usize;
                    ok!(ok!(objects::list(reference!(instr.a))).reserve(capacity));
                }
                Code::ListSize => {
                    let size = ok!(objects::list(reference!(instr.a))).len();
                    set!(i32, instr.b, size as i32);
                }
                Code::ListResize => {
                    let size = i32!(instr.b).cast_unsigned() as usize;
                    ok!(ok!(objects::list(reference!(instr.a))).resize(size));
                }
                Code::ListGetI32 => list_get!(i32, get_i32),
                Code::ListGetI64 => list_get!(i64, get_i64),
                Code::ListGetF32 => list_get!(f32, get_f32),
                Code::ListGetF64 => list_get!(f64, get_f64),
                Code::ListSetI32 => list_set!(i32, I32),
                Code::ListSetI64 => list_set!(i64, I64),
                Code::ListSetF32 => list_set!(f32, F32),
                Code::ListSetF64 => list_set!(f64, F64),
                Code::ListGetRef => {
                    let index = i32!(instr.b).cast_unsigned();
                    let list = ok!(objects::list(reference!(instr.a)));
                    let value = ok!(list.get_ref(index, is_move(instr.c)));
                    // An element of another type reads as null.
                    let fits = check_type(&module.types()[instr.high()], &value).is_ok();
                    refs[ref_index(instr.c)] = if fits { value } else { Ref::Null };
                }
                Code::ListSetRef => {
                    let index = i32!(instr.b).cast_unsigned() as usize;
                    let list = ok!(objects::list(reference!(instr.a))).clone();
                    let value = refs[ref_index(instr.c)].clone();
                    ok!(list.set_ref(index, value));
                    if is_move(instr.c) {
                        refs[ref_index(instr.c)] = Ref::Null;
                    }
                }

                // Conditional assignment.
                Code::SelectI32 => select!(i32),
                Code::SelectI64 => select!(i64),
                Code::SelectRef => {
                    let (chosen, other) =
                        if i32!(instr.a) != 0 { (instr.b, instr.c) } else { (instr.c, instr.b) };
                    let ref_type = &module.types()[instr.high()];
                    let value = ok!(read_checked_ref(refs, chosen, ref_type));
                    if is_move(other) {
                        refs[ref_index(other)] = Ref::Null;
                    }
                    refs[ref_index(instr.lane(0))] = value;
                }
                Code::SwitchI32 => switch!(i32),
                Code::SwitchI64 => switch!(i64),
                Code::SwitchRef => {
                    let values = &code.lists[instr.low()];
                    let index = usize::try_from(i32!(instr.a)).ok();
                    let chosen = *index.and_then(|index| values.get(index)).unwrap_or(&instr.b);
                    let ref_type = &module.types()[instr.high()];
                    let value = ok!(read_checked_ref(refs, chosen, ref_type));
                    refs[ref_index(instr.c)] = value;
                }

                // Integers.
                Code::AddI32 => binary!(i32 -> i32, int::i32s::add),
                Code::SubI32 => binary!(i32 -> i32, int::i32s::sub),
                Code::MulI32 => binary!(i32 -> i32, int::i32s::mul),
                Code::DivI32S => fallible!(i32, int::i32s::div_s),
                Code::DivI32U => fallible!(i32, int::i32s::div_u),
                Code::RemI32S => fallible!(i32, int::i32s::rem_s),
                Code::RemI32U => fallible!(i32, int::i32s::rem_u),
                Code::FMAI32 => ternary!(i32, int::i32s::fma),
                Code::AddI64 => binary!(i64 -> i64, int::i64s::add),
                Code::SubI64 => binary!(i64 -> i64, int::i64s::sub),
                Code::MulI64 => binary!(i64 -> i64, int::i64s::mul),
                Code::DivI64S => fallible!(i64, int::i64s::div_s),
                Code::DivI64U => fallible!(i64, int::i64s::div_u),
                Code::RemI64S => fallible!(i64, int::i64s::rem_s),
                Code::RemI64U => fallible!(i64, int::i64s::rem_u),
                Code::FMAI64 => ternary!(i64, int::i64s::fma),
                Code::NotI32 => unary!(i32 -> i32, |a: i32| !a),
                Code::AndI32 => binary!(i32 -> i32, |a: i32, b: i32| a & b),
                Code::OrI32 => binary!(i32 -> i32, |a: i32, b: i32| a | b),
                Code::XorI32 => binary!(i32 -> i32, |a: i32, b: i32| a ^ b),
                Code::NotI64 => unary!(i64 -> i64, |a: i64| !a),
                Code::AndI64 => binary!(i64 -> i64, |a: i64, b: i64| a & b),
                Code::OrI64 => binary!(i64 -> i64, |a: i64, b: i64| a | b),
                Code::XorI64 => binary!(i64 -> i64, |a: i64, b: i64| a ^ b),
                Code::ShlI32 => shift!(i32, int::i32s::shl),
                Code::ShrI32S => shift!(i32, int::i32s::shr_s),
                Code::ShrI32U => shift!(i32, int::i32s::shr_u),
                Code::ShlI64 => shift!(i64, int::i64s::shl),
                Code::ShrI64S => shift!(i64, int::i64s::shr_s),
                Code::ShrI64U => shift!(i64, int::i64s::shr_u),
                Code::CtlzI32 => unary!(i32 -> i32, int::i32s::ctlz),
                Code::CtlzI64 => unary!(i64 -> i64, int::i64s::ctlz),
                Code::AbsI32 => unary!(i32 -> i32, int::i32s::abs),
                Code::AbsI64 => unary!(i64 -> i64, int::i64s::abs),
                Code::MinI32S => binary!(i32 -> i32, int::i32s::min_s),
                Code::MinI32U => binary!(i32 -> i32, int::i32s::min_u),
                Code::MaxI32S => binary!(i32 -> i32, int::i32s::max_s),
                Code::MaxI32U => binary!(i32 -> i32, int::i32s::max_u),
                Code::MinI64S => binary!(i64 -> i64, int::i64s::min_s),
                Code::MinI64U => binary!(i64 -> i64, int::i64s::min_u),
                Code::MaxI64S => binary!(i64 -> i64, int::i64s::max_s),
                Code::MaxI64U => binary!(i64 -> i64, int::i64s::max_u),
                Code::TruncI32I8 => unary!(i32 -> i32, |a: i32| i32::from(a as u8)),
                Code::TruncI32I16 => unary!(i32 -> i32, |a: i32| i32::from(a as u16)),
                Code::TruncI64I32 => unary!(i64 -> i32, |a: i64| a as i32),
                Code::ExtI8I32S => unary!(i32 -> i32, |a: i32| i32::from(a as i8)),
                Code::ExtI16I32S => unary!(i32 -> i32, |a: i32| i32::from(a as i16)),
                Code::ExtI32I64S => unary!(i32 -> i64, |a: i32| i64::from(a)),
                Code::ExtI32I64U => unary!(i32 -> i64, |a: i32| i64::from(a.cast_unsigned())),
                Code::CmpEQI32 => binary!(i32 -> bool, |a: i32, b: i32| a == b),
                Code::CmpNEI32 => binary!(i32 -> bool, |a: i32, b: i32| a != b),
                Code::CmpLTI32S => binary!(i32 -> bool, int::i32s::lt_s),
                Code::CmpLTI32U => binary!(i32 -> bool, int::i32s::lt_u),
                Code::CmpNZI32 => unary!(i32 -> bool, |a: i32| a != 0),
                Code::CmpEQI64 => binary!(i64 -> bool, |a: i64, b: i64| a == b),
                Code::CmpNEI64 => binary!(i64 -> bool, |a: i64, b: i64| a != b),
                Code::CmpLTI64S => binary!(i64 -> bool, int::i64s::lt_s),
                Code::CmpLTI64U => binary!(i64 -> bool, int::i64s::lt_u),
                Code::CmpNZI64 => unary!(i64 -> bool, |a: i64| a != 0),
                Code::CmpEQRef => {
                    let same = refs[ref_index(instr.a)].is_same(reference!(instr.b));
                    set!(bool, instr.c, same);
                }
                Code::CmpNERef => {
                    let same = refs[ref_index(instr.a)].is_same(reference!(instr.b));
                    set!(bool, instr.c, !same);
                }
                Code::CmpNZRef => {
                    let is_null = reference!(instr.a).is_null();
                    set!(bool, instr.b, !is_null);
                }

                // Buffers.
                Code::BufferLoadI8U => load!(i32, u8),
                Code::BufferLoadI8S => load!(i32, i8),
                Code::BufferLoadI16U => load!(i32, u16),
                Code::BufferLoadI16S => load!(i32, i16),
                Code::BufferLoadI32 => load!(i32, i32),
                Code::BufferLoadI64 => load!(i64, i64),
                Code::BufferStoreI8 => store!(i32, u8),
                Code::BufferStoreI16 => store!(i32, u16),
                Code::BufferStoreI32 => store!(i32, u32),
                Code::BufferStoreI64 => store!(i64, u64),
                Code::BufferFillI8 => fill!(i32, u8),
                Code::BufferFillI16 => fill!(i32, u16),
                Code::BufferFillI32 => fill!(i32, u32),
                Code::BufferFillI64 => fill!(i64, u64),
                Code::BufferAlloc => {
                    let alignment = i32!(instr.b);
                    let buffer = objects::new_buffer(i64!(instr.a), alignment, limits);
                    refs[ref_index(instr.c)] = ok!(buffer);
                }
                Code::BufferClone => {
                    let alignment = i32!(instr.lane(0));
                    let range = (i64!(instr.b), i64!(instr.c));
                    let source = ok!(objects::buffer(reference!(instr.a), "source"));
                    let copy = ok!(objects::clone_buffer(source, range, alignment, limits));
                    refs[ref_index(instr.lane(1))] = copy;
                }
                Code::BufferLength => {
                    let length = ok!(objects::buffer(reference!(instr.a), "buffer")).len();
                    set!(i64, instr.b, length as i64);
                }
                Code::BufferCopy => {
                    let source = ok!(objects::buffer(reference!(instr.a), "source_buffer"));
                    let target = ok!(objects::buffer(reference!(instr.c), "target_buffer"));
                    let (from, to) = (i64!(instr.b) as usize, i64!(instr.lane(0)) as usize);
                    let length = i64!(instr.lane(1)) as usize;
                    ok!(target.copy_from(to, source, from, length));
                }
                Code::BufferCompare => {
                    let left = ok!(objects::buffer(reference!(instr.a), "lhs_buffer"));
                    let right = ok!(objects::buffer(reference!(instr.c), "rhs_buffer"));
                    let (at, other_at) = (i64!(instr.b) as usize, i64!(instr.lane(0)) as usize);
                    let length = i64!(instr.lane(1)) as usize;
                    let equal = ok!(left.equals(at, right, other_at, length));
                    set!(bool, instr.lane(2), equal);
                }
                Code::BufferHash => {
                    let (offset, length) = (i64!(instr.b) as usize, i64!(instr.c) as usize);
                    let buffer = ok!(objects::buffer(reference!(instr.a), "source_buffer"));
                    set!(i64, instr.lane(0), ok!(buffer.hash(offset, length)).cast_signed());
                }

                // f32.
                Code::AddF32 => binary!(f32 -> f32, |a: f32, b: f32| a + b),
                Code::SubF32 => binary!(f32 -> f32, |a: f32, b: f32| a - b),
                Code::MulF32 => binary!(f32 -> f32, |a: f32, b: f32| a * b),
                Code::DivF32 => binary!(f32 -> f32, |a: f32, b: f32| a / b),
                Code::RemF32 => binary!(f32 -> f32, float::f32s::rem),
                Code::FMAF32 => ternary!(f32, float::f32s::fma),
                Code::AbsF32 => unary!(f32 -> f32, f32::abs),
                Code::NegF32 => unary!(f32 -> f32, |a: f32| -a),
                Code::CeilF32 => unary!(f32 -> f32, float::f32s::ceil),
                Code::FloorF32 => unary!(f32 -> f32, float::f32s::floor),
                Code::RoundF32 => unary!(f32 -> f32, f32::round),
                Code::RoundF32Even => unary!(f32 -> f32, float::f32s::round_even),
                Code::MinF32 => binary!(f32 -> f32, float::f32s::min),
                Code::MaxF32 => binary!(f32 -> f32, float::f32s::max),
                Code::CastSI32F32 => unary!(i32 -> f32, |a: i32| a as f32),
                Code::CastUI32F32 => unary!(i32 -> f32, |a: i32| a.cast_unsigned() as f32),
                Code::CastSI64F32 => unary!(i64 -> f32, |a: i64| a as f32),
                Code::CastUI64F32 => unary!(i64 -> f32, |a: i64| a.cast_unsigned() as f32),
                Code::CastF32SI32 => unary!(f32 -> i32, convert::f32_to_si32),
                Code::CastF32UI32 => unary!(f32 -> i32, convert::f32_to_ui32),
                Code::CastF32SI64 => unary!(f32 -> i64, convert::f32_to_si64),
                Code::CastF32UI64 => unary!(f32 -> i64, convert::f32_to_ui64),
                Code::AtanF32 => unary!(f32 -> f32, f32::atan),
                Code::Atan2F32 => binary!(f32 -> f32, f32::atan2),
                Code::CosF32 => unary!(f32 -> f32, f32::cos),
                Code::SinF32 => unary!(f32 -> f32, f32::sin),
                Code::ExpF32 => unary!(f32 -> f32, f32::exp),
                Code::Exp2F32 => unary!(f32 -> f32, f32::exp2),
                Code::ExpM1F32 => unary!(f32 -> f32, f32::exp_m1),
                Code::LogF32 => unary!(f32 -> f32, f32::ln),
                Code::Log10F32 => unary!(f32 -> f32, f32::log10),
                Code::Log1pF32 => unary!(f32 -> f32, f32::ln_1p),
                Code::Log2F32 => unary!(f32 -> f32, f32::log2),
                Code::PowF32 => binary!(f32 -> f32, f32::powf),
                Code::RsqrtF32 => unary!(f32 -> f32, float::f32s::rsqrt),
                Code::SqrtF32 => unary!(f32 -> f32, f32::sqrt),
                Code::TanhF32 => unary!(f32 -> f32, f32::tanh),
                Code::ErfF32 => unary!(f32 -> f32, float::f32s::erf),
                Code::CmpEQF32O => binary!(f32 -> bool, |a: f32, b: f32| a == b),
                Code::CmpNEF32O => binary!(f32 -> bool, |a: f32, b: f32| a != b),
                Code::CmpLTF32O => binary!(f32 -> bool, |a: f32, b: f32| a < b),
                Code::CmpLTEF32O => binary!(f32 -> bool, |a: f32, b: f32| a <= b),
                Code::CmpEQF32U => {
                    binary!(f32 -> bool, |a, b| float::f32s::unordered(a, b) || a == b);
                }
                Code::CmpNEF32U => {
                    binary!(f32 -> bool, |a, b| float::f32s::unordered(a, b) || a != b);
                }
                Code::CmpLTF32U => {
                    binary!(f32 -> bool, |a, b| float::f32s::unordered(a, b) || a < b);
                }
                Code::CmpLTEF32U => {
                    binary!(f32 -> bool, |a, b| float::f32s::unordered(a, b) || a <= b);
                }
                Code::CmpNaNF32 => unary!(f32 -> bool, f32::is_nan),

                // f64.
                Code::AddF64 => binary!(f64 -> f64, |a: f64, b: f64| a + b),
                Code::SubF64 => binary!(f64 -> f64, |a: f64, b: f64| a - b),
                Code::MulF64 => binary!(f64 -> f64, |a: f64, b: f64| a * b),
                Code::DivF64 => binary!(f64 -> f64, |a: f64, b: f64| a / b),
                Code::RemF64 => binary!(f64 -> f64, float::f64s::rem),
                Code::FMAF64 => ternary!(f64, float::f64s::fma),
                Code::AbsF64 => unary!(f64 -> f64, f64::abs),
                Code::NegF64 => unary!(f64 -> f64, |a: f64| -a),
                Code::CeilF64 => unary!(f64 -> f64, float::f64s::ceil),
                Code::FloorF64 => unary!(f64 -> f64, float::f64s::floor),
                Code::RoundF64 => unary!(f64 -> f64, f64::round),
                Code::RoundF64Even => unary!(f64 -> f64, float::f64s::round_even),
                Code::MinF64 => binary!(f64 -> f64, float::f64s::min),
                Code::MaxF64 => binary!(f64 -> f64, float::f64s::max),
                Code::TruncF64F32 => unary!(f64 -> f32, |a: f64| a as f32),
                Code::ExtF32F64 => unary!(f32 -> f64, |a: f32| f64::from(a)),
                Code::CastSI32F64 => unary!(i32 -> f64, |a: i32| f64::from(a)),
                Code::CastUI32F64 => unary!(i32 -> f64, |a: i32| f64::from(a.cast_unsigned())),
                Code::CastSI64F64 => unary!(i64 -> f64, |a: i64| a as f64),
                Code::CastUI64F64 => unary!(i64 -> f64, |a: i64| a.cast_unsigned() as f64),
                Code::CastF64SI32 => unary!(f64 -> i32, convert::f64_to_si32),
                Code::CastF64UI32 => unary!(f64 -> i32, convert::f64_to_ui32),
                Code::CastF64SI64 => unary!(f64 -> i64, convert::f64_to_si64),
                Code::CastF64UI64 => unary!(f64 -> i64, convert::f64_to_ui64),
                Code::AtanF64 => unary!(f64 -> f64, f64::atan),
                Code::Atan2F64 => binary!(f64 -> f64, f64::atan2),
                Code::CosF64 => unary!(f64 -> f64, f64::cos),
                Code::SinF64 => unary!(f64 -> f64, f64::sin),
                Code::ExpF64 => unary!(f64 -> f64, f64::exp),
                Code::Exp2F64 => unary!(f64 -> f64, f64::exp2),
                Code::ExpM1F64 => unary!(f64 -> f64, f64::exp_m1),
                Code::LogF64 => unary!(f64 -> f64, float::ln),
                Code::Log10F64 => unary!(f64 -> f64, f64::log10),
                Code::Log1pF64 => unary!(f64 -> f64, f64::ln_1p),
                Code::Log2F64 => unary!(f64 -> f64, float::log2),
                Code::PowF64 => binary!(f64 -> f64, f64::powf),
                Code::RsqrtF64 => unary!(f64 -> f64, float::f64s::rsqrt),
                Code::SqrtF64 => unary!(f64 -> f64, f64::sqrt),
                Code::TanhF64 => unary!(f64 -> f64, f64::tanh),
                Code::ErfF64 => unary!(f64 -> f64, float::f64s::erf),
                Code::CmpEQF64O => binary!(f64 -> bool, |a: f64, b: f64| a == b),
                Code::CmpNEF64O => binary!(f64 -> bool, |a: f64, b: f64| a != b),
                Code::CmpLTF64O => binary!(f64 -> bool, |a: f64, b: f64| a < b),
                Code::CmpLTEF64O => binary!(f64 -> bool, |a: f64, b: f64| a <= b),
                Code::CmpEQF64U => {
                    binary!(f64 -> bool, |a, b| float::f64s::unordered(a, b) || a == b);
                }
                Code::CmpNEF64U => {
                    binary!(f64 -> bool, |a, b| float::f64s::unordered(a, b) || a != b);
                }
                Code::CmpLTF64U => {
                    binary!(f64 -> bool, |a, b| float::f64s::unordered(a, b) || a < b);
                }
                Code::CmpLTEF64U => {
                    binary!(f64 -> bool, |a, b| float::f64s::unordered(a, b) || a <= b);
                }
                Code::CmpNaNF64 => unary!(f64 -> bool, f64::is_nan),
            }

            debug_assert!(code_here.falls_through());
            // SAFETY: arms of instructions that do not fall through leave, jump or start a frame.
            cursor = unsafe { cursor.next() };
            if H::OBSERVES {
                stack.set_index(index!());
                continue 'frame;
            }
        }
    }
}
