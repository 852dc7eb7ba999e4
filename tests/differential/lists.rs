//! List elements, written as every type into lists of every type and read as every type. This tries
//! every conversion between element types, and every refusal.

use std::fmt::Write as _;

use vmfb::isa::Bank;

use crate::operands::edges;
use crate::program::{Agreement, Program};
use crate::scalar::{loop_body, register, type_name};

const BANKS: [Bank; 4] = [Bank::I32, Bank::I64, Bank::F32, Bank::F64];
const ELEMENTS: [&str; 7] = ["i8", "i16", "i32", "i64", "f32", "f64", "!vm.opaque"];
/// Length, and the index of an element.
const PLACES: [(i64, i64); 9] =
    [(0, 0), (0, -1), (1, 0), (1, 1), (3, 2), (3, 3), (3, -1), (3, 0x7FFF_FFFF), (1000, 999)];

pub(crate) fn programs() -> Vec<Program> {
    let mut programs: Vec<Program> = BANKS.into_iter().map(conversions).collect();
    programs.push(bounds());
    programs
}

/// All cases that write `from`.
fn conversions(from: Bank) -> Program {
    let mut types = ELEMENTS.to_vec();
    types.push("!vm.buffer");
    let mut program = Program::new(&format!("lists_of_{}", type_name(from)), &types);
    program.rodata(0, from, &edges(from));
    program.tuples = edges(from).into_iter().map(|bits| vec![bits]).collect();
    for element in ELEMENTS {
        for to in BANKS {
            let mut compute = String::from("  %i6 = vm.const.i32.zero\n");
            let _ = writeln!(compute, "  %i12 = vm.const.i32 1");
            let _ = writeln!(compute, "  %r5 = vm.list.alloc %i12 : !vm.list<{element}>");
            compute.push_str("  vm.list.resize %r5, %i12\n");
            let (source, target) = (register(from, 4), register(to, 8));
            let _ = writeln!(compute, "  vm.list.set.{} %r5, %i6, {source}", type_name(from));
            let _ = writeln!(compute, "  {target} = vm.list.get.{} %r5, %i6", type_name(to));
            let body = loop_body(&[from], to, program.tuples.len(), &compute);
            let name = format!(
                "{}_{}_{}",
                type_name(from),
                element.trim_start_matches("!vm."),
                type_name(to)
            );
            program.function(&name, "() -> (!vm.ref<?>)", &body);
            program.call(&name, &[], Agreement::Bits);
        }
    }
    program
}

/// Elements inside and outside a list, and elements that were never written.
fn bounds() -> Program {
    let mut program = Program::new("list_bounds", &ELEMENTS);
    for element in ELEMENTS {
        for bank in BANKS {
            let of_type = type_name(bank);
            let make = format!(
                "  %r0 = vm.list.alloc %i0 : !vm.list<{element}>\n  vm.list.resize %r0, %i0\n"
            );
            let (value, place) = (register(bank, 2), element.trim_start_matches("!vm."));
            let get = format!("get_{of_type}_{place}");
            let body = format!(
                "{make}  {value} = vm.list.get.{of_type} %r0, %i1\n  %i2 = vm.list.size %r0\n  \
                 vm.return %i2, %i4\n"
            );
            program.function(&get, &format!("(%i0: i32, %i1: i32) -> (i32, {of_type})"), &body);
            let set = format!("set_{of_type}_{place}");
            let body = format!(
                "{make}  {value} = vm.const.{of_type} -5\n  \
                 vm.list.set.{of_type} %r0, %i1, {value}\n  vm.return %R0\n"
            );
            program.function(&set, "(%i0: i32, %i1: i32) -> (!vm.ref<?>)", &body);
            for (length, index) in PLACES {
                let inputs = [length.to_string(), index.to_string()];
                program.call(&get, &inputs, Agreement::Bits);
                program.call(&set, &inputs, Agreement::Bits);
            }
        }
    }
    program
}
