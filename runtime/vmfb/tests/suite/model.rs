//! A model of what an instruction reaches, and whether the verifier lets exactly those pass that
//! reach nothing outside.
//!
//! The model is derived from the table of instructions, field by field, and knows nothing of the
//! verifier: for an instruction with any operands it lists what the machine would touch
//! ([`Reach`]), and [`Room::has`] says whether that is there. Each instruction of the table is
//! tried with many operands at the edges:
//!
//! - what the verifier accepts reaches nothing outside (else it is unsound);
//! - what reaches nothing outside is accepted (else this could pass by refusing everything).
//!
//! `PROPTEST_CASES=5000 cargo test -p vmfb --test suite model` tries more.

use std::cell::Cell;
use std::collections::BTreeMap;

use abi::cconv::{Signature, ValueType};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use vmfb::decode::Immediate;
use vmfb::encode::{Value, encode};
use vmfb::isa::{Bank, FieldKind};
use vmfb::{
    BytecodeOffset, Callee, Features, FunctionOrdinal, ImportOrdinal, Op, Register, RodataOrdinal,
    TypeOrdinal,
};

use super::verifier::{judge, module};

/// The imports and functions of [`module`], with what they take and return.
const IMPORTS: [&str; 3] = ["0iI_r", "0iCiIDr_v", ""];
const FUNCTIONS: [&str; 2] = ["0v_v", "0iIr_I"];

/// How many operands of each instruction are tried, by default.
const CASES: u32 = 200;

/// Stands for the place of the second block, until that is known.
const END: u32 = 0xE0E0_E0E0;

/// What an instruction would touch.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Reach {
    /// 32-bit registers, from one on.
    Words {
        from: u32,
        count: u32,
    },
    /// A ref register.
    Ref(u32),
    /// Bytes of globals, from one on.
    Globals {
        from: u64,
        bytes: u64,
    },
    GlobalRef(u32),
    Type(u32),
    Rodata(u32),
    Function(u32),
    Import(u32),
    /// An instruction: execution goes on there.
    Instruction(u32),
    /// Something of another kind, as a ref that is read as a number.
    Nonsense,
}

/// What there is.
struct Room {
    words: u32,
    refs: u32,
    globals: u64,
    global_refs: u32,
    types: u32,
    rodata: u32,
    functions: u32,
    imports: u32,
    /// Where blocks begin.
    blocks: [u32; 2],
}

impl Room {
    fn has(&self, reach: Reach) -> bool {
        match reach {
            Reach::Words { from, count: 1 } => from < self.words,
            // Frames hold whole pairs.
            Reach::Words { from, count } => from + count <= self.words.next_multiple_of(2),
            Reach::Ref(ordinal) => ordinal < self.refs,
            Reach::Globals { from, bytes } => from + bytes <= self.globals,
            Reach::GlobalRef(ordinal) => ordinal < self.global_refs,
            Reach::Type(ordinal) => ordinal < self.types,
            Reach::Rodata(ordinal) => ordinal < self.rodata,
            Reach::Function(ordinal) => ordinal < self.functions,
            Reach::Import(ordinal) => ordinal < self.imports,
            Reach::Instruction(offset) => self.blocks.contains(&offset),
            Reach::Nonsense => false,
        }
    }
}

/// What a register of a bank is. The machine ignores the move bit where a ref is only read, but
/// programs of this version do not have it there.
fn register(register: Register, bank: Bank, found: &mut Vec<Reach>) {
    let word = u32::from(register.0 & !Register::REF_BIT);
    let is_ref = register.0 & Register::REF_BIT != 0;
    let ordinal = u32::from(register.0 & !Register::REF_BIT & !Register::MOVE_BIT);
    let is_moved = is_ref && register.0 & Register::MOVE_BIT != 0;
    found.push(match bank {
        Bank::Any if is_ref => Reach::Ref(ordinal),
        Bank::RefMove if is_ref => Reach::Ref(ordinal),
        Bank::Ref if is_ref && !is_moved => Reach::Ref(ordinal),
        Bank::Ref | Bank::RefMove => Reach::Nonsense,
        _ if is_ref => Reach::Nonsense,
        Bank::I32 | Bank::F32 | Bank::Any => Reach::Words { from: word, count: 1 },
        // A pair is one number of the machine, and begins at an even one.
        Bank::I64 | Bank::F64 if word % 2 == 1 => Reach::Nonsense,
        Bank::I64 | Bank::F64 => Reach::Words { from: word, count: 2 },
    });
}

fn copies(remap: &[(Register, Register)], found: &mut Vec<Reach>) {
    for (from, to) in remap {
        register(*from, Bank::Any, found);
        register(*to, Bank::Any, found);
        if from.is_ref() != to.is_ref() {
            found.push(Reach::Nonsense);
        }
    }
}

/// Registers that hand over values of these types, and no others.
fn handed(types: &[ValueType], registers: &[Register], found: &mut Vec<Reach>) {
    if types.len() != registers.len() {
        found.push(Reach::Nonsense);
    }
    for (value_type, it) in types.iter().zip(registers) {
        let bank = match value_type {
            ValueType::I64 | ValueType::F64 => Bank::I64,
            ValueType::Ref => Bank::RefMove,
            _ => Bank::I32,
        };
        register(*it, bank, found);
    }
}

/// What a call hands over.
fn call(op: Op, values: &[Value], found: &mut Vec<Reach>) {
    let Value::Function(callee) = &values[0] else { panic!("a call begins with its callee") };
    let lists = values.iter().filter_map(|value| match value {
        Value::Registers(list) => Some(list.as_slice()),
        _ => None,
    });
    let lists: Vec<&[Register]> = lists.collect();
    let text = match callee {
        Callee::Internal(ordinal) => FUNCTIONS.get(ordinal.0 as usize),
        Callee::Import(ordinal) => IMPORTS.get(ordinal.0 as usize),
    };
    // What is not there was found already.
    let Some(text) = text else { return };
    let is_variadic = matches!(op, Op::CallVariadic | Op::CallVariadicYieldable);
    let signature = Signature::parse(text).unwrap_or_default();
    let [segments, arguments, results] = match *lists {
        [arguments, results] => [[].as_slice(), arguments, results],
        [segments, arguments, results] => [segments, arguments, results],
        _ => panic!("a call has two or three lists"),
    };
    handed(&signature.results, results, found);
    let takes_spans = signature.arguments.iter().any(|it| matches!(it, ValueType::Span(_)));
    if !is_variadic {
        let taken = &signature.arguments;
        if takes_spans {
            return found.push(Reach::Nonsense);
        }
        // Arguments that the callee does not take are dropped.
        let dropped = !text.is_empty() && arguments.len() > taken.len();
        let arguments = if dropped { &arguments[..taken.len()] } else { arguments };
        return handed(taken, arguments, found);
    }
    if matches!(callee, Callee::Internal(_)) {
        return found.push(Reach::Nonsense);
    }
    // An import without a calling convention takes nothing, whatever the segments say.
    if !text.is_empty() && segments.len() != signature.arguments.len() {
        return found.push(Reach::Nonsense);
    }
    let mut types = Vec::new();
    for (argument, size) in signature.arguments.iter().zip(segments) {
        match argument {
            // So many would be more than there are registers in the list.
            ValueType::Span(_) if usize::from(size.0) > arguments.len() => {
                return found.push(Reach::Nonsense);
            }
            ValueType::Span(tuple) => {
                (0..size.0).for_each(|_| types.extend(tuple.iter().cloned()));
            }
            scalar => types.push(scalar.clone()),
        }
    }
    handed(&types, arguments, found);
}

/// Everything that an instruction would touch.
fn reached(op: Op, values: &[Value]) -> Vec<Reach> {
    let mut found = Vec::new();
    for (field, value) in op.info().fields.iter().zip(values) {
        match (field.kind, value) {
            (FieldKind::Read(bank) | FieldKind::Write(bank), Value::Register(it)) => {
                register(*it, bank, &mut found);
            }
            (FieldKind::Reads(bank) | FieldKind::Writes(bank), Value::Registers(list)) => {
                let bank = if op == Op::DiscardRefs { Bank::RefMove } else { bank };
                if field.name != "segment_sizes" {
                    list.iter().for_each(|it| register(*it, bank, &mut found));
                }
            }
            (FieldKind::Immediate(_) | FieldKind::String, _) => {}
            (FieldKind::Global, Value::Global(at)) => found.push(global(op, *at)),
            (FieldKind::Type, Value::Type(it)) => found.push(Reach::Type(it.0)),
            (FieldKind::Rodata, Value::Rodata(it)) => found.push(Reach::Rodata(it.0)),
            (FieldKind::Function, Value::Function(Callee::Internal(it))) => {
                found.push(Reach::Function(it.0));
                if op == Op::ImportResolved {
                    found.push(Reach::Nonsense);
                }
            }
            (FieldKind::Function, Value::Function(Callee::Import(it))) => {
                found.push(Reach::Import(it.0));
            }
            (FieldKind::Target, Value::Target(to)) => found.push(Reach::Instruction(to.0)),
            (FieldKind::Remap, Value::Remap(remap)) => copies(remap, &mut found),
            (FieldKind::Cases, Value::Cases(cases)) => {
                for (to, remap) in cases {
                    found.push(Reach::Instruction(to.0));
                    copies(remap, &mut found);
                }
            }
            (kind, value) => panic!("{value:?} is no {kind:?}"),
        }
    }
    match op {
        Op::Call | Op::CallYieldable | Op::CallVariadic | Op::CallVariadicYieldable => {
            call(op, values, &mut found);
        }
        Op::Return => {
            let Some(Value::Registers(list)) = values.first() else { panic!("a list") };
            let own = Signature::parse(FUNCTIONS[0]).expect("it is one");
            handed(&own.results, list, &mut found);
        }
        _ => {}
    }
    found
}

/// What a global's number names: the machine reads and writes as many bytes as the mnemonic says.
fn global(op: Op, at: u32) -> Reach {
    let from = u64::from(at);
    match op.info().mnemonic.rsplit('.').next() {
        Some("ref") => Reach::GlobalRef(at),
        Some("i64" | "f64") => Reach::Globals { from, bytes: 8 },
        Some("i32" | "f32") => Reach::Globals { from, bytes: 4 },
        other => panic!("a global of type {other:?}"),
    }
}

/// Numbers that are mostly near the ends of tables of a few.
fn ordinal() -> impl Strategy<Value = u32> {
    // The highest bit of a callee's number tells imports from functions.
    prop_oneof![6 => 0..2_u32, 6 => 0..5_u32, 1 => Just(0x7fff_ffff), 1 => 0..0x7fff_ffff_u32]
}

fn global_number() -> impl Strategy<Value = u32> {
    let largest = u32::MAX - 8..=u32::MAX;
    prop_oneof![4 => 0..2_u32, 4 => 0..20_u32, 2 => largest, 1 => any::<u32>()]
}

/// A register, mostly of a bank and there.
fn any_register(bank: Bank) -> BoxedStrategy<Register> {
    let word = (0..10_u16).prop_map(Register).boxed();
    let pair = (0..6_u16).prop_map(|it| Register(it * 2)).boxed();
    let reference = (0..5_u16).prop_map(|it| Register(it | Register::REF_BIT)).boxed();
    let moved = reference.clone().prop_map(|it| Register(it.0 | Register::MOVE_BIT)).boxed();
    let of_bank = match bank {
        Bank::I32 | Bank::F32 => word.clone(),
        Bank::I64 | Bank::F64 => pair,
        Bank::Ref => reference.clone(),
        Bank::RefMove => prop_oneof![reference.clone(), moved.clone()].boxed(),
        Bank::Any => prop_oneof![word.clone(), reference.clone(), moved.clone()].boxed(),
    };
    let edge = prop_oneof![Just(0x3fff), Just(0x7fff), Just(0xbfff), Just(0xffff), any::<u16>()];
    prop_oneof![
        24 => of_bank,
        1 => word,
        1 => reference,
        1 => moved,
        1 => edge.prop_map(Register)
    ]
    .boxed()
}

fn remap() -> BoxedStrategy<Vec<(Register, Register)>> {
    let same = prop_oneof![Just(Bank::I32), Just(Bank::RefMove)]
        .prop_flat_map(|bank| (any_register(bank), any_register(bank)));
    vec(same, 0..3).boxed()
}

fn target() -> impl Strategy<Value = BytecodeOffset> {
    prop_oneof![6 => Just(0), 6 => Just(END), 1 => 0..40_u32, 1 => any::<u32>()]
        .prop_map(BytecodeOffset)
}

/// Operands of a field.
fn operand(op: Op, kind: FieldKind, name: &str) -> BoxedStrategy<Value> {
    match kind {
        FieldKind::Read(bank) | FieldKind::Write(bank) => {
            any_register(bank).prop_map(Value::Register).boxed()
        }
        FieldKind::Reads(_) | FieldKind::Writes(_) if name == "segment_sizes" => {
            let size = prop_oneof![6 => 0..3_u16, 1 => Just(u16::MAX)].prop_map(Register);
            vec(size, 0..5).prop_map(Value::Registers).boxed()
        }
        FieldKind::Reads(bank) | FieldKind::Writes(bank) => {
            let bank = if op == Op::DiscardRefs { Bank::RefMove } else { bank };
            vec(any_register(bank), 0..4).prop_map(Value::Registers).boxed()
        }
        FieldKind::Immediate(bank) => {
            let number = any::<u64>();
            number
                .prop_map(move |it| {
                    Value::Immediate(match bank {
                        Bank::I64 => Immediate::I64(it.cast_signed()),
                        Bank::F32 => Immediate::F32(it as u32),
                        Bank::F64 => Immediate::F64(it),
                        _ => Immediate::I32(it as i32),
                    })
                })
                .boxed()
        }
        FieldKind::Global => global_number().prop_map(Value::Global).boxed(),
        FieldKind::Type => ordinal().prop_map(|it| Value::Type(TypeOrdinal(it))).boxed(),
        FieldKind::Rodata => ordinal().prop_map(|it| Value::Rodata(RodataOrdinal(it))).boxed(),
        FieldKind::Function => {
            let callee = prop_oneof![
                ordinal().prop_map(|it| Callee::Internal(FunctionOrdinal(it))),
                ordinal().prop_map(|it| Callee::Import(ImportOrdinal(it)))
            ];
            callee.prop_map(Value::Function).boxed()
        }
        FieldKind::String => Just(Value::String(b"text".to_vec())).boxed(),
        FieldKind::Target => target().prop_map(Value::Target).boxed(),
        FieldKind::Remap => remap().prop_map(Value::Remap).boxed(),
        FieldKind::Cases => vec((target(), remap()), 0..3).prop_map(Value::Cases).boxed(),
    }
}

/// The lists of a call that fits its callee, mostly.
fn call_operands(op: Op) -> BoxedStrategy<Vec<Value>> {
    let is_variadic = matches!(op, Op::CallVariadic | Op::CallVariadicYieldable);
    let callees =
        if is_variadic { vec![(false, 1)] } else { vec![(false, 0), (true, 0), (true, 1)] };
    let values = prop::sample::select(callees).prop_flat_map(move |(is_own, number)| {
        let text = if is_own { FUNCTIONS[number] } else { IMPORTS[number] };
        let signature = Signature::parse(text).expect("it is one");
        let callee = match is_own {
            true => Callee::Internal(FunctionOrdinal(number as u32)),
            false => Callee::Import(ImportOrdinal(number as u32)),
        };
        let size = if is_variadic { 0..3_u16 } else { 0..1 };
        size.prop_flat_map(move |size| {
            let mut types = Vec::new();
            let mut segments = Vec::new();
            for argument in &signature.arguments {
                match argument {
                    ValueType::Span(tuple) => {
                        segments.push(Register(size));
                        (0..size).for_each(|_| types.extend(tuple.iter().cloned()));
                    }
                    scalar => {
                        segments.push(Register(u16::MAX));
                        types.push(scalar.clone());
                    }
                }
            }
            let registers = |types: &[ValueType]| -> Vec<BoxedStrategy<Register>> {
                let bank = |it: &ValueType| match it {
                    ValueType::I64 | ValueType::F64 => Bank::I64,
                    ValueType::Ref => Bank::RefMove,
                    _ => Bank::I32,
                };
                types.iter().map(|it| any_register(bank(it))).collect()
            };
            let lists = (registers(&types), registers(&signature.results));
            let callee = Value::Function(callee);
            let rest: Vec<BoxedStrategy<Value>> = op.info().fields[1..]
                .iter()
                .filter(|field| matches!(field.kind, FieldKind::Target | FieldKind::Remap))
                .map(|field| operand(op, field.kind, field.name))
                .collect();
            (lists, rest).prop_map(move |((arguments, results), rest)| {
                let mut lists = Vec::new();
                if is_variadic {
                    lists.push(segments.clone());
                }
                lists.extend([arguments, results]);
                let (mut lists, mut rest) = (lists.into_iter(), rest.into_iter());
                let fields = op.info().fields[1..].iter().map(|field| match field.kind {
                    FieldKind::Target | FieldKind::Remap => rest.next().expect("one a field"),
                    _ => Value::Registers(lists.next().expect("one a field")),
                });
                std::iter::once(callee.clone()).chain(fields).collect()
            })
        })
    });
    values.boxed()
}

fn operands(op: Op) -> BoxedStrategy<Vec<Value>> {
    let fields = op.info().fields.iter();
    let any: Vec<_> = fields.map(|it| operand(op, it.kind, it.name)).collect();
    match op {
        Op::Call | Op::CallYieldable | Op::CallVariadic | Op::CallVariadicYieldable => {
            prop_oneof![1 => any, 2 => call_operands(op)].boxed()
        }
        _ => any.boxed(),
    }
}

/// The function that is judged: the instruction in a block of its own, and another block after it.
/// Returns where that begins.
fn function(op: Op, values: &[Value]) -> Option<(Vec<u8>, u32)> {
    let mut code = Vec::new();
    encode(&mut code, Op::Block, &[]).ok()?;
    encode(&mut code, op, values).ok()?;
    let empty = [Value::Registers(Vec::new())];
    if !op.is_terminator() {
        encode(&mut code, Op::Return, &empty).ok()?;
    }
    let end = u32::try_from(code.len()).ok()?;
    encode(&mut code, Op::Block, &[]).ok()?;
    encode(&mut code, Op::Return, &empty).ok()?;
    Some((code, end))
}

/// Whether the verifier accepts an instruction, and whether the model does; what it says.
fn tried(op: Op, mut values: Vec<Value>, words: u16, refs: u16) -> Option<(bool, bool, String)> {
    let (_, end) = function(op, &values)?;
    let lead = |to: &mut BytecodeOffset| to.0 = if to.0 == END { end } else { to.0 };
    for value in &mut values {
        match value {
            Value::Target(to) => lead(to),
            Value::Cases(cases) => cases.iter_mut().for_each(|(to, _)| lead(to)),
            _ => {}
        }
    }
    let (code, _) = function(op, &values)?;
    let mut image = module(&code);
    image.requirements = Features(0xF);
    image.rodata = vec![vmfb::build::RodataImage::new(&b"bytes"[..])];
    let judged = &mut image.functions[0];
    judged.requirements = Features(0xF);
    judged.block_count = 2;
    (judged.i32_register_count, judged.ref_register_count) = (words, refs);
    let room = Room {
        words: words.into(),
        refs: refs.into(),
        globals: image.state.global_bytes.into(),
        global_refs: image.state.global_refs,
        types: image.types.len() as u32,
        rodata: image.rodata.len() as u32,
        functions: FUNCTIONS.len() as u32,
        imports: IMPORTS.len() as u32,
        blocks: [0, end],
    };
    let is_sound = reached(op, &values).into_iter().all(|reach| room.has(reach));
    let said = judge(&image);
    Some((said.is_empty(), is_sound, said))
}

#[test]
fn what_is_accepted_reaches_nothing_outside() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|it| it.parse().ok());
    let config =
        Config { cases: cases.unwrap_or(CASES), failure_persistence: None, ..Config::default() };
    let mut counts = BTreeMap::new();
    for op in Op::all().filter(|op| *op != Op::Block) {
        let (accepted, refused) = (Cell::new(0), Cell::new(0));
        let mut runner = TestRunner::new(config.clone());
        let words = prop_oneof![2 => Just(10_u16), 1 => Just(9_u16), 1 => 0..10_u16];
        let refs = prop_oneof![3 => Just(5_u16), 1 => 0..5_u16];
        let strategy = (operands(op), words, refs);
        let result = runner.run(&strategy, |(values, words, refs)| {
            let Some((is_accepted, is_sound, said)) = tried(op, values.clone(), words, refs) else {
                return Err(TestCaseError::reject("it has no encoding"));
            };
            match is_accepted {
                true => accepted.set(accepted.get() + 1),
                false => refused.set(refused.get() + 1),
            }
            let frame = format!("{words} words, {refs} refs");
            prop_assert!(is_sound || !is_accepted, "{op:?} {values:?} in {frame} is accepted");
            prop_assert!(is_accepted || !is_sound, "{op:?} {values:?} in {frame}: {said}");
            Ok(())
        });
        if let Err(error) = result {
            panic!("{op:?}: {error}");
        }
        counts.insert(op.info().mnemonic, (accepted.get(), refused.get()));
    }
    // Otherwise nothing was tried.
    let has_operands = |name: &&str| {
        let op = Op::all().find(|op| op.info().mnemonic == *name).expect("it is one");
        let is_checked = |kind| !matches!(kind, FieldKind::Immediate(_) | FieldKind::String);
        op.info().fields.iter().any(|field| is_checked(field.kind))
    };
    for (name, (accepted, refused)) in &counts {
        assert!(*accepted > 0, "vm.{name} was never accepted");
        assert!(*refused > 0 || !has_operands(name), "vm.{name} was never refused");
    }
}
