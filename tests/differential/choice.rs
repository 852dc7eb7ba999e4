//! Constants, switches and branch tables.

use std::fmt::Write as _;

use vmfb::Op;
use vmfb::isa::Bank;

use crate::operands::{edges, width};
use crate::program::{Agreement, Program};
use crate::scalar::{function_name, loop_body, register, type_name};

/// Indices for a choice among three.
const INDICES: [i32; 10] = [0, 1, 2, 3, 4, -1, 256, 0x1_0000, i32::MAX, i32::MIN];

const TYPES: &[&str] = &["i32", "i64", "!vm.list<i32>", "!vm.list<i64>"];

pub(crate) fn programs() -> Vec<Program> {
    vec![constants(), choices()]
}

fn mnemonic(op: &str) -> Op {
    Op::from_mnemonic(op).unwrap_or_else(|| panic!("there is no vm.{op}"))
}

/// A constant in the assembler's syntax, which cannot express NaN bits and refuses denormals.
fn text(bank: Bank, bits: u64) -> Option<String> {
    match bank {
        Bank::I64 => Some(bits.cast_signed().to_string()),
        Bank::F32 => Some(f32::from_bits(bits as u32))
            .filter(|value| !value.is_nan() && !value.is_subnormal())
            .map(|value| format!("{value:e}")),
        Bank::F64 => Some(f64::from_bits(bits))
            .filter(|value| !value.is_nan() && !value.is_subnormal())
            .map(|value| format!("{value:e}")),
        _ => Some((bits as u32).cast_signed().to_string()),
    }
}

/// A constant is part of the bytecode, so each case is an instruction of its own.
fn constants() -> Program {
    let mut program = Program::new("constants", TYPES);
    for bank in [Bank::I32, Bank::I64, Bank::F32, Bank::F64] {
        let of_type = type_name(bank);
        let element = if width(bank) == 8 { "i64" } else { "i32" };
        let integer = if width(bank) == 8 { Bank::I64 } else { Bank::I32 };
        let constants: Vec<u64> =
            edges(bank).into_iter().filter(|bits| text(bank, *bits).is_some()).collect();
        let mut body = format!("  %i0 = vm.const.i32 {}\n", constants.len() + 1);
        let _ = writeln!(body, "  %r0 = vm.list.alloc %i0 : !vm.list<{element}>");
        body.push_str("  vm.list.resize %r0, %i0\n");
        let zero = format!("vm.const.{of_type}.zero");
        let texts = constants.iter().filter_map(|bits| text(bank, *bits));
        let texts = texts.map(|text| format!("vm.const.{of_type} {text}"));
        for (index, constant) in texts.chain([zero]).enumerate() {
            let (value, bits) = (register(bank, 4), register(integer, 5));
            let _ = writeln!(body, "  {value} = {constant}\n  %i1 = vm.const.i32 {index}");
            let _ = match bank {
                Bank::F32 | Bank::F64 => {
                    writeln!(body, "  {bits} = vm.bitcast.{of_type}.{element} {value}")
                }
                _ => writeln!(body, "  {bits} = vm.or.{of_type} {value}, {value}"),
            };
            let _ = writeln!(body, "  vm.list.set.{element} %r0, %i1, {bits}");
        }
        body.push_str("  vm.return %R0\n");
        let name = format!("const_{of_type}");
        program.function(&name, "() -> (!vm.ref<?>)", &body);
        program.call(&name, &[], Agreement::Bits);
    }
    program
}

/// Switches of every type, a branch table, and a conditional branch.
fn choices() -> Program {
    let mut program = Program::new("choices", TYPES);
    let indices = INDICES.map(|index| u64::from(index.cast_unsigned()));
    program.tuples = indices.iter().map(|index| vec![*index]).collect();
    program.rodata(0, Bank::I32, &indices);
    for bank in [Bank::I32, Bank::I64, Bank::F32, Bank::F64] {
        let of_type = type_name(bank);
        let op = mnemonic(&format!("switch.{of_type}"));
        let mut compute = String::new();
        for (pair, value) in [(5, "11"), (6, "22"), (7, "33"), (9, "-44")] {
            let _ = writeln!(compute, "  {} = vm.const.{of_type} {value}", register(bank, pair));
        }
        // Inside brackets, a pair of registers is written as its lower half.
        let _ = writeln!(
            compute,
            "  {} = vm.{} %i8[%i10, %i12, %i14] else {}",
            register(bank, 8),
            op.mnemonic(),
            register(bank, 9)
        );
        let body = loop_body(&[Bank::I32], bank, indices.len(), &compute);
        program.function(&function_name(op), "() -> (!vm.ref<?>)", &body);
        program.call(&function_name(op), &[], Agreement::Bits);
    }
    let values = "  %i10 = vm.const.i32 11\n  %i12 = vm.const.i32 22\n  %i14 = vm.const.i32 -33\n";
    let table = format!(
        "{values}  vm.br_table %i8 {{ default: ^bb3(%i8->%i16), 0: ^bb3(%i10->%i16), \
         1: ^bb3(%i12->%i16), 2: ^bb3(%i14->%i16) }}\n^bb3:\n"
    );
    let condition =
        format!("{values}  vm.cond_br %i8, ^bb3(%i10->%i16), ^bb3(%i12->%i16)\n^bb3:\n");
    for (name, compute) in [("br_table", table), ("cond_br", condition)] {
        // The blocks of the loop follow this one.
        let body = loop_body(&[Bank::I32], Bank::I32, indices.len(), &compute);
        program.function(name, "() -> (!vm.ref<?>)", &body);
        program.call(name, &[], Agreement::Bits);
    }
    program
}
