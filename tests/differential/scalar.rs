//! Instructions from scalars to a scalar, generated from the instruction table. Their fields say
//! what to load and store, so a new instruction is tested without a change here.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use vmfb::Op;
use vmfb::isa::{Bank, FieldKind};

use crate::operands::tuples;
use crate::program::{Agreement, Program};

/// A register of each bank, as programs write it.
pub(crate) fn register(bank: Bank, pair: usize) -> String {
    match bank {
        Bank::I64 | Bank::F64 => format!("%i{}:{}", 2 * pair, 2 * pair + 1),
        _ => format!("%i{}", 2 * pair),
    }
}

/// The name of a bank's type: `i32`, `f64`, ….
pub(crate) fn type_name(bank: Bank) -> &'static str {
    match bank {
        Bank::I64 => "i64",
        Bank::F32 => "f32",
        Bank::F64 => "f64",
        _ => "i32",
    }
}

/// A mnemonic as part of a function's name.
pub(crate) fn function_name(op: Op) -> String {
    op.mnemonic().replace('.', "_")
}

/// How a list holds the bits of a bank: its element type, and the instruction that gives the bits.
fn bits_of(bank: Bank) -> (&'static str, Option<&'static str>) {
    match bank {
        Bank::I64 => ("i64", None),
        Bank::F32 => ("i32", Some("vm.bitcast.f32.i32")),
        Bank::F64 => ("i64", Some("vm.bitcast.f64.i64")),
        _ => ("i32", None),
    }
}

/// The body of a function that loops over `count` tuples of operands, whose columns are rodata 0,
/// 1, …, and returns a list of the results' bits. `compute` is text that sets pair 8 from the
/// operands in pairs 4, 5, ….
pub(crate) fn loop_body(operands: &[Bank], result: Bank, count: usize, compute: &str) -> String {
    let (element, bitcast) = bits_of(result);
    let mut body = String::new();
    for column in 0..operands.len() {
        let _ = writeln!(body, "  %r{column} = vm.const.ref.rodata {column}");
    }
    let _ = writeln!(body, "  %i0 = vm.const.i32 {count}");
    let _ = writeln!(body, "  %r4 = vm.list.alloc %i0 : !vm.list<{element}>");
    body.push_str("  vm.list.resize %r4, %i0\n  %i1 = vm.const.i32.zero\n");
    body.push_str("  %i2:3 = vm.const.i64.zero\n  %i4 = vm.const.i32 1\n  vm.br ^bb1()\n^bb1:\n");
    for (column, bank) in operands.iter().enumerate() {
        let target = register(*bank, 4 + column);
        let _ =
            writeln!(body, "  {target} = vm.buffer.load.{} %r{column}, %i2:3", type_name(*bank));
    }
    body.push_str(compute);
    let mut source = register(result, 8);
    if let Some(bitcast) = bitcast {
        let bank = if element == "i64" { Bank::I64 } else { Bank::I32 };
        let _ = writeln!(body, "  {} = {bitcast} {source}", register(bank, 9));
        source = register(bank, 9);
    }
    let _ = writeln!(body, "  vm.list.set.{element} %r4, %i1, {source}");
    body.push_str("  %i1 = vm.add.i32 %i1, %i4\n  %i2:3 = vm.ext.i32.i64.s %i1\n");
    body.push_str("  %i5 = vm.cmp.lt.i32.s %i1, %i0\n  vm.cond_br %i5, ^bb1(), ^bb2()\n");
    body.push_str("^bb2:\n  vm.return %R4\n");
    body
}

/// The operand banks and the result bank of an instruction from scalars to a scalar.
pub(crate) fn shape(op: Op) -> Option<(Vec<Bank>, Bank)> {
    if op.mnemonic().starts_with("global.") {
        return None;
    }
    let mut operands = Vec::new();
    let mut result = None;
    for field in op.info().fields {
        match field.kind {
            FieldKind::Read(Bank::Ref | Bank::RefMove | Bank::Any) => return None,
            FieldKind::Write(Bank::Ref | Bank::RefMove | Bank::Any) => return None,
            FieldKind::Read(bank) => operands.push(bank),
            FieldKind::Write(bank) => result = Some(bank),
            _ => return None,
        }
    }
    result.filter(|_| !operands.is_empty()).map(|result| (operands, result))
}

/// Whether these operands kill the reference's process (see `traps`).
fn traps(operands: &[Bank], tuple: &[u64]) -> bool {
    let &[left, right] = tuple else { return false };
    let smallest = if operands[0] == Bank::I64 { i64::MIN as u64 } else { 0x8000_0000 };
    let minus_one = if operands[0] == Bank::I64 { u64::MAX } else { 0xFFFF_FFFF };
    right == 0 || (left == smallest && right == minus_one)
}

/// What iree-as-module of 3.13.0 refuses, as it takes the i64 operand for a single register:
/// `float_powers.mlir` of the corpus has it.
pub(crate) const NOT_ASSEMBLED: [Op; 1] = [Op::FPowIF32];

/// Instructions with operands of the same types.
struct Group {
    operands: Vec<Bank>,
    is_division: bool,
    ops: Vec<(Op, Bank)>,
}

/// One program per list of operand types. Divisions have their own, without the operands that trap.
pub(crate) fn programs(seed: u64) -> Vec<Program> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for op in Op::all() {
        let Some((operands, result)) = shape(op) else { continue };
        if NOT_ASSEMBLED.contains(&op) {
            continue;
        }
        let is_float = matches!(operands[0], Bank::F32 | Bank::F64);
        let divides = op.mnemonic().starts_with("div.") || op.mnemonic().starts_with("rem.");
        let is_division = divides && !is_float;
        let mut name: Vec<&str> = operands.iter().map(|bank| type_name(*bank)).collect();
        name.insert(0, if is_division { "divide" } else { "scalar" });
        let empty = Group { operands, is_division, ops: Vec::new() };
        groups.entry(name.join("_")).or_insert(empty).ops.push((op, result));
    }
    groups.into_iter().map(|(name, group)| program(&name, &group, seed)).collect()
}

fn program(name: &str, group: &Group, seed: u64) -> Program {
    let operands = &group.operands;
    let mut program = Program::new(name, &["i32", "i64", "!vm.list<i32>", "!vm.list<i64>"]);
    program.tuples = tuples(operands, seed);
    if group.is_division {
        program.tuples.retain(|tuple| !traps(operands, tuple));
    }
    for (column, bank) in operands.iter().enumerate() {
        let values: Vec<u64> = program.tuples.iter().map(|tuple| tuple[column]).collect();
        program.rodata(column, *bank, &values);
    }
    for (op, result) in &group.ops {
        let mut sources: Vec<String> =
            operands.iter().enumerate().map(|(column, bank)| register(*bank, 4 + column)).collect();
        let sources = if op.mnemonic().starts_with("select.") {
            let condition = sources.remove(0);
            format!("{condition} ? {}", sources.join(" : "))
        } else {
            sources.join(", ")
        };
        let compute = format!("  {} = vm.{} {sources}\n", register(*result, 8), op.mnemonic());
        let body = loop_body(operands, *result, program.tuples.len(), &compute);
        program.function(&function_name(*op), "() -> (!vm.ref<?>)", &body);
        program.call(&function_name(*op), &[], Agreement::Bits);
    }
    program
}
