//! Buffers and globals: every access at offsets in range, at the last one, just past it, and at
//! offsets whose scaling or sum overflows.

use std::fmt::Write as _;

use vmfb::Op;
use vmfb::isa::{Bank, Field, FieldKind};

use crate::operands::{edges, width};
use crate::program::{Agreement, Program};
use crate::scalar::{function_name, register};

/// The size of the buffers, in bytes.
const LENGTH: i64 = 64;

/// Offsets, in elements of 1, 2, 4 or 8 bytes.
const OFFSETS: &[i64] = &[
    0,
    1,
    7,
    8,
    9,
    15,
    16,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    -1,
    -8,
    0x1_0000_0000,
    1 << 61,
    (1 << 61) + 1,
    1 << 62,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];

/// Offset and length of fills, comparisons, hashes and clones.
const RANGES: &[(i64, i64)] = &[
    (0, 0),
    (0, 1),
    (0, 8),
    (0, 16),
    (0, 32),
    (0, 64),
    (0, 65),
    (1, 7),
    (3, 13),
    (7, 1),
    (8, 1),
    (8, 8),
    (15, 1),
    (16, 1),
    (16, 0),
    (63, 1),
    (63, 2),
    (64, 0),
    (64, 1),
    (65, 0),
    (-1, 1),
    (1, -1),
    (0, -1),
    (i64::MAX, 1),
    (i64::MAX, i64::MAX),
    (1, i64::MAX),
    (1 << 61, 0),
    (0, 1 << 61),
    (i64::MIN, 0),
    (0, i64::MIN),
    (i64::MIN, i64::MIN),
];

/// Source offset, target offset and length, of copies and comparisons.
const MOVES: &[(i64, i64, i64)] = &[
    (0, 0, 0),
    (0, 0, 64),
    (0, 0, 65),
    (1, 0, 63),
    (0, 1, 63),
    (1, 1, 64),
    (64, 64, 0),
    (65, 0, 0),
    (0, 65, 0),
    (3, 40, 17),
    (40, 3, 17),
    (40, 3, 25),
    (3, 48, 17),
    (-1, 0, 1),
    (0, -1, 1),
    (0, 0, -1),
    (i64::MAX, 0, 1),
    (0, i64::MAX, 1),
    (1, 1, i64::MAX),
    (i64::MIN, i64::MIN, i64::MIN),
];

/// The size of the globals, in bytes.
const GLOBAL_BYTES: u32 = 24;

/// Byte offsets of globals, aligned and not.
const GLOBALS: &[i32] =
    &[0, 4, 8, 12, 16, 20, 24, 28, 1, 2, 3, 5, 7, 17, 19, 21, 23, -1, -4, -8, i32::MAX, i32::MIN];

const TYPES: &[&str] = &["i32", "i64", "!vm.buffer", "!vm.list<i32>", "!vm.list<i64>"];

/// Makes a private buffer in %r0 with the bytes of rodata 0.
const OWN_BUFFER: &str = "  %r1 = vm.const.ref.rodata 0\n  %i20:21 = vm.const.i64 64\n  \
     %i22 = vm.const.i32 16\n  %i24:25 = vm.const.i64.zero\n  \
     %r0 = vm.buffer.clone %r1, %i24:25, %i20:21, %i22\n";

/// Returns the words of %r0 as a list.
const RETURN_WORDS: &str = "  %i0 = vm.const.i32 8\n  %i1 = vm.const.i32.zero\n  \
     %i4 = vm.const.i32 1\n  %r4 = vm.list.alloc %i0 : !vm.list<i64>\n  \
     vm.list.resize %r4, %i0\n  vm.br ^bb1()\n^bb1:\n  %i2:3 = vm.ext.i32.i64.s %i1\n  \
     %i6:7 = vm.buffer.load.i64 %r0, %i2:3\n  vm.list.set.i64 %r4, %i1, %i6:7\n  \
     %i1 = vm.add.i32 %i1, %i4\n  %i5 = vm.cmp.lt.i32.s %i1, %i0\n  \
     vm.cond_br %i5, ^bb1(), ^bb2()\n^bb2:\n  vm.return %R4\n";

pub(crate) fn programs() -> Vec<Program> {
    vec![loads(), stores(), fills(), ranges(), globals()]
}

fn inputs<T: ToString>(values: &[T]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

/// How to compare the answers to an access of these ranges (offset, length), in elements of
/// `element` bytes.
fn access(ranges: &[(i64, i64)], element: u64) -> Agreement {
    let wraps = |(offset, length): &(i64, i64)| {
        let bytes = |count: i64| count.cast_unsigned().checked_mul(element);
        let end =
            bytes(*offset).zip(bytes(*length)).map(|(offset, length)| offset.checked_add(length));
        end.flatten().is_none()
    };
    if ranges.iter().any(wraps) { Agreement::Outside } else { Agreement::Bits }
}

/// The size of the elements that an instruction counts in, in bytes.
fn element(op: Op) -> u64 {
    let of = |name: &str| op.mnemonic().split('.').any(|part| part == name);
    [("i8", 1), ("i16", 2), ("i32", 4), ("f32", 4)]
        .into_iter()
        .find(|(name, _)| of(name))
        .map_or(8, |(_, bytes)| bytes)
}

/// How to compare the answers to an access of a global. The reference adds in 32 bits, and checks
/// only 4 of the 8 bytes of an f64.
fn global_access(bank: Bank, offset: i32) -> Agreement {
    let offset = offset.cast_unsigned();
    let wraps = offset.checked_add(width(bank) as u32).is_none();
    let is_missed = bank == Bank::F64 && offset <= GLOBAL_BYTES - 4 && offset > GLOBAL_BYTES - 8;
    if wraps || is_missed { Agreement::Outside } else { Agreement::Bits }
}

/// A program whose rodata 0 is 64 different bytes that include NaNs of both widths.
fn with_bytes(name: &str) -> Program {
    let mut program = Program::new(name, TYPES);
    program.rodata(
        0,
        Bank::I64,
        &[
            0xF7E6_D5C4_B3A2_9180,
            0x7F80_0001_FFC1_2345,
            0x7FF0_0000_0000_0001,
            0xFFF8_1234_5678_9ABC,
            0x0102_0304_0506_0708,
            0x8000_0000_0000_0000,
            0x7FFF_FFFF_FFFF_FFFF,
            0x1F2E_3D4C_5B6A_7988,
        ],
    );
    program
}

/// Instructions whose mnemonic starts with `prefix`, with the bank of their field named `value`.
fn ops(prefix: &str, value: &str) -> Vec<(Op, Bank)> {
    let bank_of = |field: &Field| match field.kind {
        FieldKind::Read(bank) | FieldKind::Write(bank) if field.name == value => Some(bank),
        _ => None,
    };
    Op::all()
        .filter(|op| op.mnemonic().starts_with(prefix))
        .filter_map(|op| Some((op, op.info().fields.iter().find_map(bank_of)?)))
        .collect()
}

/// How to return the bits of `source`: a line that converts them, if needed, and their type.
fn returned_bits(bank: Bank, source: usize, target: usize) -> (String, &'static str) {
    let from = register(bank, source);
    match bank {
        Bank::I64 => (format!("  {} = vm.or.i64 {from}, {from}\n", register(bank, target)), "i64"),
        Bank::F32 => {
            (format!("  {} = vm.bitcast.f32.i32 {from}\n", register(Bank::I32, target)), "i32")
        }
        Bank::F64 => {
            (format!("  {} = vm.bitcast.f64.i64 {from}\n", register(Bank::I64, target)), "i64")
        }
        _ => (format!("  {} = vm.or.i32 {from}, {from}\n", register(bank, target)), "i32"),
    }
}

fn loads() -> Program {
    let mut program = with_bytes("loads");
    for (op, bank) in ops("buffer.load.", "result") {
        let (bits, of_type) = returned_bits(bank, 2, 4);
        let body = format!(
            "  %r0 = vm.const.ref.rodata 0\n  {} = vm.{} %r0, %i0:1\n{bits}  vm.return %i8\n",
            register(bank, 2),
            op.mnemonic()
        );
        let name = function_name(op);
        program.function(&name, &format!("(%i0:1: i64) -> ({of_type})"), &body);
        for offset in OFFSETS {
            program.call(&name, &inputs(&[*offset]), access(&[(*offset, 1)], element(op)));
        }
    }
    program
}

/// Stores each edge of the type somewhere in a buffer, then one edge at each offset. Also stores
/// into rodata, which is refused.
fn stores() -> Program {
    let mut program = with_bytes("stores");
    let banks = [Bank::I32, Bank::I64, Bank::F32, Bank::F64];
    for (index, bank) in banks.into_iter().enumerate() {
        program.rodata(1 + index, bank, &edges(bank));
    }
    for (op, bank) in ops("buffer.store.", "value") {
        let rodata = 1 + banks.iter().position(|of| *of == bank).unwrap_or(0);
        let of_type = crate::scalar::type_name(bank);
        let name = function_name(op);
        let value = register(bank, 15);
        let mnemonic = op.mnemonic();
        let body = format!(
            "{OWN_BUFFER}  %r2 = vm.const.ref.rodata {rodata}\n  \
             {value} = vm.buffer.load.{of_type} %r2, %i2:3\n  \
             vm.{mnemonic} {value}, %r0, %i0:1\n{RETURN_WORDS}"
        );
        program.function(&name, "(%i0:1: i64, %i2:3: i64) -> (!vm.ref<?>)", &body);
        for (index, offset) in OFFSETS.iter().enumerate() {
            program.call(
                &name,
                &inputs(&[*offset, index as i64 + 3]),
                access(&[(*offset, 1)], element(op)),
            );
        }
        for index in 0..edges(bank).len() {
            program.call(&name, &inputs(&[index as i64 % 8, index as i64]), Agreement::Bits);
        }
        let body = format!(
            "  %r0 = vm.const.ref.rodata 0\n  {value} = vm.const.{of_type}.zero\n  \
             vm.{mnemonic} {value}, %r0, %i0:1\n  vm.return\n"
        );
        let denied = format!("{name}_denied");
        program.function(&denied, "(%i0:1: i64) -> ()", &body);
        for offset in [0, 7, 8, 64, -1] {
            program.call(&denied, &inputs(&[offset]), Agreement::Bits);
        }
    }
    program
}

fn fills() -> Program {
    let mut program = with_bytes("fills");
    for (op, bank) in ops("buffer.fill.", "value") {
        let of_type = crate::scalar::type_name(bank);
        let (name, mnemonic, value) = (function_name(op), op.mnemonic(), register(bank, 15));
        let body = format!(
            "{OWN_BUFFER}  {value} = vm.const.{of_type} -1978\n  \
             vm.{mnemonic} %r0, %i0:1, %i2:3, {value}\n{RETURN_WORDS}"
        );
        program.function(&name, "(%i0:1: i64, %i2:3: i64) -> (!vm.ref<?>)", &body);
        for (offset, length) in RANGES {
            program.call(
                &name,
                &inputs(&[*offset, *length]),
                access(&[(*offset, *length)], element(op)),
            );
        }
    }
    program
}

/// Clone, hash, copy, compare, length and alloc.
fn ranges() -> Program {
    let mut program = with_bytes("ranges");
    program.function(
        "hash",
        "(%i0:1: i64, %i2:3: i64) -> (i64)",
        "  %r0 = vm.const.ref.rodata 0\n  %i4:5 = vm.buffer.hash %r0, %i0:1, %i2:3\n  \
         vm.return %i4\n",
    );
    program.function(
        "clone",
        "(%i0:1: i64, %i2:3: i64) -> (i64, i64)",
        "  %r0 = vm.const.ref.rodata 0\n  %i6 = vm.const.i32 16\n  \
         %r1 = vm.buffer.clone %r0, %i0:1, %i2:3, %i6\n  %i8:9 = vm.buffer.length %r1\n  \
         %i10:11 = vm.const.i64.zero\n  %i12:13 = vm.buffer.hash %r1, %i10:11, %i8:9\n  \
         vm.return %i8, %i12\n",
    );
    for (offset, length) in RANGES {
        for function in ["hash", "clone"] {
            program.call(function, &inputs(&[*offset, *length]), access(&[(*offset, *length)], 1));
        }
    }
    let moves = "(%i0:1: i64, %i2:3: i64, %i4:5: i64)";
    let copy = format!(
        "  %i30:31 = vm.or.i64 %i0:1, %i0:1\n{OWN_BUFFER}  \
         vm.buffer.copy %r1, %i30:31, %r0, %i2:3, %i4:5\n{RETURN_WORDS}"
    );
    program.function("copy", &format!("{moves} -> (!vm.ref<?>)"), &copy);
    let within = copy.replace("copy %r1,", "copy %r0,");
    program.function("copy_within", &format!("{moves} -> (!vm.ref<?>)"), &within);
    let compare = format!(
        "{OWN_BUFFER}  %i6 = vm.buffer.compare %r1, %i0:1, %r0, %i2:3, %i4:5\n  vm.return %i6\n"
    );
    program.function("compare", &format!("{moves} -> (i32)"), &compare);
    for (source, target, length) in MOVES {
        for function in ["copy", "compare"] {
            program.call(
                function,
                &inputs(&[*source, *target, *length]),
                access(&[(*source, *length), (*target, *length)], 1),
            );
        }
        // C leaves memcpy undefined where the ranges overlap.
        let (low, high) = (*source.min(target), *source.max(target));
        if low.checked_add(*length).is_none_or(|end| end <= high || end > LENGTH) {
            program.call(
                "copy_within",
                &inputs(&[*source, *target, *length]),
                access(&[(*source, *length), (*target, *length)], 1),
            );
        }
    }
    program.function(
        "alloc",
        "(%i0:1: i64, %i2: i32) -> (i64)",
        "  %r0 = vm.buffer.alloc %i0:1, %i2\n  %i4:5 = vm.buffer.length %r0\n  vm.return %i4\n",
    );
    for (length, alignment) in [(0, 0), (1, 1), (64, 8), (1000, 16), (7, 64)] {
        program.call("alloc", &inputs(&[length, alignment]), Agreement::Bits);
    }
    program
}

/// Globals at a computed place, and at a constant one.
fn globals() -> Program {
    let mut program = Program::new("globals", TYPES);
    let banks = [Bank::I32, Bank::I64, Bank::F32, Bank::F64];
    for (index, bank) in banks.into_iter().enumerate() {
        program.rodata(index, bank, &edges(bank));
    }
    for (index, bank) in banks.into_iter().enumerate() {
        let of_type = crate::scalar::type_name(bank);
        let (value, back) = (register(bank, 5), register(bank, 6));
        let (bits, result) = returned_bits(bank, 6, 8);
        let mut body = String::new();
        let _ = writeln!(body, "  %r0 = vm.const.ref.rodata {index}");
        let _ = writeln!(body, "  {value} = vm.buffer.load.{of_type} %r0, %i2:3");
        let indirect = format!(
            "{body}  vm.global.store.indirect.{of_type} %i0, {value}\n  \
             {back} = vm.global.load.indirect.{of_type} %i0\n{bits}  vm.return %i16\n"
        );
        let name = format!("indirect_{of_type}");
        program.function(&name, &format!("(%i0: i32, %i1:2: i64) -> ({result})"), &indirect);
        for (index, offset) in GLOBALS.iter().enumerate() {
            let value = index as i64 + 1;
            program.call(
                &name,
                &inputs(&[i64::from(*offset), value]),
                global_access(bank, *offset),
            );
        }
        let direct = format!(
            "{body}  vm.global.store.{of_type} {value}, .rwdata[16]\n  \
             {back} = vm.global.load.{of_type} .rwdata[16]\n{bits}  vm.return %i16\n"
        );
        let name = format!("direct_{of_type}");
        program.function(&name, &format!("(%i0: i32, %i1:2: i64) -> ({result})"), &direct);
        for value in 0..edges(bank).len() {
            program.call(&name, &inputs(&[0, value as i64]), Agreement::Bits);
        }
    }
    program
}
