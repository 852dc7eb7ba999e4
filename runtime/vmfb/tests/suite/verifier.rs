//! Modules that try to get past the verifier: one line per attempt, with the verifier's answer.
//!
//! Each is a small sound module with one defect. Defects of the file itself (damaged tables, bytes
//! that end too early) are in `hostile.rs`.

use vmfb::build::ModuleImage;
use vmfb::decode::Immediate;
use vmfb::encode::{Value, encode};
use vmfb::verify::verify;
use vmfb::{
    BytecodeOffset, Callee, FunctionOrdinal, ImportOrdinal, Module, Op, Register, RodataOrdinal,
    TypeOrdinal,
};
use vmfb::{
    BytecodeVersion, Export, Features, Function, FunctionSignature, Import, ModuleState, TypeDef,
};

type Code = Vec<(Op, Vec<Value>)>;
type Damage = fn(&mut ModuleImage<'_>);

const I32_REGISTERS: u16 = 8;
const REF_REGISTERS: u16 = 4;

fn i(ordinal: u16) -> Value {
    Value::Register(Register(ordinal))
}

fn r(ordinal: u16) -> Value {
    i(ordinal | Register::REF_BIT)
}

fn moved(ordinal: u16) -> Value {
    i(ordinal | Register::REF_BIT | Register::MOVE_BIT)
}

fn list(registers: &[Value]) -> Value {
    let registers = registers.iter().map(|value| match value {
        Value::Register(register) => *register,
        other => panic!("{other:?} is no register"),
    });
    Value::Registers(registers.collect())
}

fn copies(pairs: &[(u16, u16)]) -> Value {
    Value::Remap(pairs.iter().map(|(from, to)| (Register(*from), Register(*to))).collect())
}

fn to(offset: u32) -> Value {
    Value::Target(BytecodeOffset(offset))
}

fn function(ordinal: u32) -> Value {
    Value::Function(Callee::Internal(FunctionOrdinal(ordinal)))
}

fn import(ordinal: u32) -> Value {
    Value::Function(Callee::Import(ImportOrdinal(ordinal)))
}

fn number(value: i32) -> Value {
    Value::Immediate(Immediate::I32(value))
}

fn bytes(code: &Code) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (op, values) in code {
        encode(&mut bytes, *op, values).expect("operands fit their fields");
    }
    bytes
}

fn signature(calling_convention: &str) -> FunctionSignature {
    FunctionSignature {
        calling_convention: Some(calling_convention.to_owned()),
        attributes: Vec::new(),
    }
}

/// A block with one instruction and a return. The block marker is at 0, the instruction at 1.
fn around(op: Op, values: Vec<Value>) -> Code {
    let mut code = vec![(Op::Block, vec![]), (op, values)];
    if !op.is_terminator() {
        code.push((Op::Return, vec![list(&[])]));
    }
    code
}

/// Function 0 is judged; function 1 `0iIr_I` is its callee.
pub(crate) fn module(code: &[u8]) -> ModuleImage<'static> {
    let other = bytes(&vec![(Op::Block, vec![]), (Op::Return, vec![list(&[i(2)])])]);
    let start = code.len().next_multiple_of(8);
    let mut bytecode = code.to_vec();
    bytecode.resize(start, 0);
    bytecode.extend(&other);
    let declared = |range, calling_convention| Function {
        bytecode: range,
        requirements: Features::default(),
        block_count: 1,
        i32_register_count: I32_REGISTERS,
        ref_register_count: REF_REGISTERS,
        signature: signature(calling_convention),
    };
    let import = |name: &str, calling_convention| Import {
        full_name: name.to_owned(),
        signature: signature(calling_convention),
        is_optional: false,
    };
    ModuleImage {
        name: "m".to_owned(),
        version: 0,
        bytecode_version: BytecodeVersion::NEWEST,
        requirements: Features::default(),
        attributes: Vec::new(),
        types: vec![TypeDef { full_name: "!vm.buffer".to_owned() }],
        dependencies: Vec::new(),
        imports: vec![
            import("o.plain", "0iI_r"),
            import("o.spans", "0iCiIDr_v"),
            import("o.silent", ""),
        ],
        exports: vec![Export { name: "f".to_owned(), function: FunctionOrdinal(0) }],
        functions: vec![declared(0..code.len(), "0v_v"), declared(start..bytecode.len(), "0iIr_I")],
        bytecode: bytecode.into(),
        rodata: Vec::new(),
        rwdata: Vec::new(),
        state: ModuleState { global_bytes: 16, global_refs: 1 },
        debug_database: None,
    }
}

/// The defects of a module, one per line.
pub(crate) fn judge(image: &ModuleImage<'_>) -> String {
    let module = Module::from_bytes(image.to_bytes().unwrap()).unwrap();
    let defects = verify(module).err().unwrap_or_default();
    defects.iter().map(|defect| format!("{defect}\n")).collect()
}

#[track_caller]
fn refused(image: &ModuleImage<'_>, expected: &str) {
    let defects = judge(image);
    assert!(defects.contains(expected), "expected: {expected}\nfound: {defects}");
}

#[test]
fn operands() {
    let cases: Vec<(Op, Vec<Value>, &str)> = vec![
        // Registers against counts, banks and alignment.
        (Op::AddI32, vec![i(8), i(0), i(0)], "uses i32 register 8; the function has 8"),
        (Op::AddI32, vec![i(0), i(0), i(0x7FFF)], "uses i32 register 32767"),
        (Op::AddI32, vec![r(0), i(0), i(0)], "register 0x8000 is not an i32 register"),
        (Op::AddI64, vec![i(1), i(0), i(0)], "register pair 1 begins at an odd register"),
        (Op::AddI64, vec![i(8), i(0), i(0)], "uses i32 register 9; the function has 8"),
        (Op::CmpEQRef, vec![i(0), r(0), i(0)], "register 0x0000 is not a ref register"),
        (Op::CmpEQRef, vec![r(4), r(0), i(0)], "uses ref register 4; the function has 4"),
        (Op::BufferLength, vec![moved(0), i(0)], "ref register 0 has a move bit here"),
        (Op::DiscardRefs, vec![list(&[r(0), i(3)])], "register 0x0003 is not a ref register"),
        (Op::DiscardRefs, vec![list(&[moved(9)])], "uses ref register 9"),
        (Op::SwitchI32, vec![i(0), i(0), list(&[i(0), r(0)]), i(0)], "is not an i32 register"),
        (Op::SwitchI64, vec![i(0), i(0), list(&[i(5)]), i(0)], "begins at an odd register"),
        // Globals: the second would be below the limit if it were added in 32 bits.
        (Op::GlobalLoadI32, vec![Value::Global(13), i(0)], "names global 13; the module has 16"),
        (Op::GlobalLoadI32, vec![Value::Global(u32::MAX - 3), i(0)], "names global 4294967292"),
        (Op::GlobalStoreI64, vec![Value::Global(9), i(0)], "names global 9; the module has 16"),
        (
            Op::GlobalLoadRef,
            vec![Value::Global(1), Value::Type(TypeOrdinal(0)), r(0)],
            "names global 1; the module has 1 ref globals",
        ),
        // Ordinals.
        (Op::ConstRefRodata, vec![Value::Rodata(RodataOrdinal(0)), r(0)], "names rodata segment 0"),
        (
            Op::ListAlloc,
            vec![Value::Type(TypeOrdinal(1)), i(0), r(0)],
            "names type 1; the module has 1",
        ),
        (Op::ImportResolved, vec![import(3), i(0)], "names import 3; the module has 3"),
        (Op::ImportResolved, vec![function(0), i(0)], "names a function of the module itself"),
        // Features.
        (Op::AddF32, vec![i(0), i(0), i(0)], "needs EXT_F32, which the function does not require"),
        (Op::AddF64, vec![i(0), i(0), i(0)], "needs EXT_F64, which the function does not require"),
        // Branches.
        (Op::Branch, vec![to(2), copies(&[])], "branches to 00000002, where no block begins"),
        (Op::Branch, vec![to(u32::MAX), copies(&[])], "branches to FFFFFFFF"),
        (Op::Branch, vec![to(0), copies(&[(0, 8)])], "uses i32 register 8"),
        (Op::Branch, vec![to(0), copies(&[(0x8009, 0x8000)])], "uses ref register 9"),
        (Op::Branch, vec![to(0), copies(&[(0, 0x8000)])], "into the other bank"),
        (
            Op::CondBranch,
            vec![r(0), to(0), copies(&[]), to(0), copies(&[])],
            "register 0x8000 is not an i32 register",
        ),
        (
            Op::CondBranch,
            vec![i(0), to(0), copies(&[]), to(1), copies(&[])],
            "branches to 00000001, where no block begins",
        ),
        (
            Op::BranchTable,
            vec![i(0), to(0), copies(&[]), Value::Cases(vec![(BytecodeOffset(7), vec![])])],
            "branches to 00000007, where no block begins",
        ),
        (Op::Yield, vec![to(4), copies(&[])], "branches to 00000004"),
        (Op::CondBreak, vec![i(0), to(4), copies(&[])], "branches to 00000004"),
        // Returns.
        (Op::Return, vec![list(&[i(0)])], "returns 1 values where the signature has 0"),
    ];
    for (op, values, expected) in cases {
        refused(&module(&bytes(&around(op, values))), expected);
    }
}

#[test]
fn calls() {
    let at_end = [to(0), list(&[])];
    let cases: Vec<(Op, Vec<Value>, &str)> = vec![
        (Op::Call, vec![function(2), list(&[]), list(&[])], "names function 2; the module has 2"),
        (Op::Call, vec![function(0x7FFF_FFFF), list(&[]), list(&[])], "names function 2147483647"),
        (Op::Call, vec![import(3), list(&[]), list(&[])], "names import 3; the module has 3"),
        (
            Op::Call,
            vec![function(1), list(&[i(0), i(2)]), list(&[i(4)])],
            "passes 2 values where the signature has 3",
        ),
        (
            Op::Call,
            vec![function(1), list(&[i(0), i(2), r(0)]), list(&[])],
            "takes back 0 values where the signature has 1",
        ),
        (
            Op::Call,
            vec![function(1), list(&[i(0), i(2), r(0)]), list(&[i(4), i(4)])],
            "takes back 2 values where the signature has 1",
        ),
        (
            Op::Call,
            vec![function(1), list(&[i(0), i(3), r(0)]), list(&[i(4)])],
            "register pair 3 begins at an odd register",
        ),
        (
            Op::Call,
            vec![function(1), list(&[i(0), r(2), r(0)]), list(&[i(4)])],
            "register 0x8002 is not an i32 register",
        ),
        (
            Op::Call,
            vec![function(1), list(&[i(0), i(2), i(4)]), list(&[i(4)])],
            "register 0x0004 is not a ref register",
        ),
        (
            Op::Call,
            vec![function(1), list(&[i(0), i(2), r(0)]), list(&[i(8)])],
            "uses i32 register 9; the function has 8",
        ),
        (
            Op::Call,
            vec![import(0), list(&[i(0), i(2)]), list(&[i(0)])],
            "register 0x0000 is not a ref register",
        ),
        (
            Op::Call,
            vec![import(1), list(&[i(0)]), list(&[])],
            "the callee is variadic; the call gives no segment sizes",
        ),
        // An import without a signature takes nothing.
        (
            Op::Call,
            vec![import(2), list(&[r(0)]), list(&[])],
            "passes 1 values where the signature has 0",
        ),
        (
            Op::CallVariadic,
            vec![function(1), list(&[]), list(&[i(0), i(2), r(0)]), list(&[i(4)])],
            "only imports can be called with a variable number of arguments",
        ),
        (
            Op::CallVariadic,
            vec![import(1), list(&[i(1)]), list(&[i(0), i(0), i(2), r(0)]), list(&[])],
            "the call gives 1 segment sizes; the callee has 3 arguments",
        ),
        (
            Op::CallVariadic,
            vec![import(1), list(&[i(1), i(9), i(1)]), list(&[i(0), i(0), i(2), r(0)]), list(&[])],
            "its segment sizes ask for more than the 4 values it passes",
        ),
        (
            Op::CallVariadic,
            vec![import(1), list(&[i(1), i(0), i(1)]), list(&[i(0), i(0), i(2), r(0)]), list(&[])],
            "passes 4 values where the signature has 2",
        ),
        (
            Op::CallVariadic,
            vec![import(1), list(&[i(1), i(1), i(1)]), list(&[i(0), i(0), i(3), r(0)]), list(&[])],
            "register pair 3 begins at an odd register",
        ),
        (
            Op::CallYieldable,
            [vec![function(5), list(&[])], at_end.to_vec()].concat(),
            "names function 5; the module has 2",
        ),
        (
            Op::CallYieldable,
            vec![function(1), list(&[i(0), i(2), r(0)]), to(3), list(&[i(4)])],
            "branches to 00000003, where no block begins",
        ),
        (
            Op::CallVariadicYieldable,
            vec![import(1), list(&[]), list(&[]), to(0), list(&[])],
            "the call gives 0 segment sizes; the callee has 3 arguments",
        ),
    ];
    for (op, values, expected) in cases {
        refused(&module(&bytes(&around(op, values))), expected);
    }
}

#[test]
fn blocks() {
    let ret = || (Op::Return, vec![list(&[])]);
    let block = || (Op::Block, vec![]);
    let add = || (Op::AddI32, vec![i(0), i(0), i(0)]);
    let cases: Vec<(Code, &str)> = vec![
        (vec![block()], "its last block does not end in a terminator"),
        (vec![block(), add()], "its last block does not end in a terminator"),
        (vec![add(), ret()], "vm.add.i32 is in no block"),
        (vec![block(), ret(), add()], "vm.add.i32 is in no block"),
        (vec![block(), add(), block(), ret()], "the block before this marker does not end"),
        (vec![block(), ret(), block(), ret()], "it says 1 blocks and has 2"),
    ];
    for (code, expected) in cases {
        refused(&module(&bytes(&code)), expected);
    }
    let code = bytes(&vec![block(), (Op::ConstI32, vec![number(7), i(0)]), ret()]);
    for length in 2..code.len() {
        let defects = judge(&module(&code[..length]));
        assert!(!defects.is_empty(), "cut short after {length} bytes");
    }
    let mut unknown = code;
    unknown[1] = 0xDF;
    refused(&module(&unknown), "unknown opcode DF");
}

#[test]
fn tables() {
    let sound = || module(&bytes(&vec![(Op::Block, vec![]), (Op::Return, vec![list(&[])])]));
    assert_eq!(judge(&sound()), "");
    let cases: Vec<(Damage, &str)> = vec![
        (|it| it.requirements = Features(16), "the module requires unknown features (bits 0x10)"),
        (|it| it.functions[0].requirements = Features(32), "requires unknown features (bits 0x20)"),
        (|it| it.functions[0].block_count = 2, "it says 2 blocks and has 1"),
        (|it| it.functions[1].i32_register_count = 2, "uses i32 register 3; the function has 2"),
        (|it| it.functions[0].signature = signature("0CiD_v"), "only imports can be variadic"),
        (|it| it.functions[0].signature = signature("0x_v"), "calling convention \"0x_v\""),
        (|it| it.functions[0].signature.calling_convention = None, "has no calling convention"),
        (|it| it.imports[0].signature = signature("0i_x"), "import o.plain: calling convention"),
        (
            |it| it.functions[0].signature = signature(&format!("0{}_v", "I".repeat(20_000))),
            "its arguments need 40000 i32",
        ),
        (
            |it| it.functions[0].signature = signature(&format!("0{}_v", "r".repeat(20_000))),
            "and 20000 ref registers",
        ),
        (|it| it.functions[0].signature = signature("0v_i"), "returns 0 values where"),
    ];
    for (damage, expected) in cases {
        let mut image = sound();
        damage(&mut image);
        refused(&image, expected);
    }
}

#[test]
fn instructions_that_the_version_does_not_have() {
    let assign = bytes(&around(Op::AssignRef, vec![r(0), r(1)]));
    for (major, is_refused) in [(15, true), (16, false), (17, false)] {
        let mut image = module(&assign);
        image.bytecode_version.major = major;
        assert_eq!(judge(&image).contains("came with bytecode version 16"), is_refused, "{major}");
    }
}
