//! Random programs that keep every rule of the verifier: instructions of the whole table, with
//! existing operands, in functions that call each other, native functions, and imports that are not
//! there.
//!
//! Their results are meaningless, so each function starts by setting registers to useful values:
//! small numbers, a buffer, lists. Fuel ends endless loops.

use abi::cconv::{Signature, ValueType};
use vmfb::build::{ModuleImage, RodataImage};
use vmfb::decode::Immediate;
use vmfb::encode::{Value, encode_function};
use vmfb::isa::{Bank, Field, FieldKind};
use vmfb::{
    BytecodeOffset, Callee, FunctionOrdinal, ImportOrdinal, Op, Register, RodataOrdinal,
    TypeOrdinal,
};
use vmfb::{
    BytecodeVersion, Export, Features, Function, FunctionSignature, Import, ModuleState, TypeDef,
};

use crate::random::Random;

/// The type table. The constants below are indices into it.
const TYPES: [&str; 12] = [
    "i8",
    "i16",
    "i32",
    "i64",
    "f32",
    "f64",
    "!vm.buffer",
    "!vm.list<i32>",
    "!vm.list<?>",
    "!vm.ref<?>",
    "!vm.opaque",
    "!test.object",
];
const BUFFER: u32 = 6;
const VARIANT: u32 = 10;

/// The functions of [`crate::run::native`], and an import that no module provides.
pub(crate) const IMPORTS: [(&str, &str, bool); 6] = [
    ("native.mix", "0iIfFr_FrIi", false),
    ("native.sum", "0iCiIDr_I", false),
    ("native.wait", "0r_r", false),
    ("native.refuse", "0i_i", false),
    ("native.object", "0v_r", false),
    ("native.nothing", "0CrDi_r", true),
];

const I32_REGISTERS: u16 = 24;
const REF_REGISTERS: u16 = 7;
const RODATA: u32 = 2;
const GLOBAL_BYTES: u32 = 64;
const GLOBAL_REFS: u32 = 3;

/// A module of a few functions, all exported.
pub(crate) fn generate(random: &mut Random) -> ModuleImage<'static> {
    let signatures: Vec<String> = (0..1 + random.below(4)).map(|_| signature(random)).collect();
    let mut bytecode = Vec::new();
    let mut functions = Vec::new();
    for calling_convention in &signatures {
        let start = bytecode.len();
        let block_count = 1 + random.below(6);
        let own = Signature::parse(calling_convention).expect("signatures are well-formed");
        let generator = Generator { random, signatures: &signatures, own, block_count };
        bytecode.extend(generator.function());
        functions.push(Function {
            bytecode: start..bytecode.len(),
            requirements: Features(0xF),
            block_count: block_count as u16,
            i32_register_count: I32_REGISTERS,
            ref_register_count: REF_REGISTERS,
            signature: FunctionSignature {
                calling_convention: Some(calling_convention.clone()),
                attributes: Vec::new(),
            },
        });
        bytecode.resize(bytecode.len().next_multiple_of(8), 0);
    }
    ModuleImage {
        name: "program".to_owned(),
        version: 0,
        bytecode_version: BytecodeVersion::NEWEST,
        requirements: Features(0xF),
        attributes: Vec::new(),
        types: TYPES.map(|name| TypeDef { full_name: name.to_owned() }).to_vec(),
        dependencies: Vec::new(),
        imports: IMPORTS.iter().map(import).collect(),
        exports: (0..functions.len() as u32)
            .map(|ordinal| Export {
                name: if ordinal == 0 { "__init".to_owned() } else { format!("f{ordinal}") },
                function: FunctionOrdinal(ordinal),
            })
            .collect(),
        functions,
        bytecode: bytecode.into(),
        rodata: vec![RodataImage::new(&b"read-only bytes"[..]), RodataImage::new(Vec::new())],
        rwdata: Vec::new(),
        state: ModuleState { global_bytes: GLOBAL_BYTES, global_refs: GLOBAL_REFS },
        debug_database: None,
    }
}

fn import((name, calling_convention, is_optional): &(&str, &str, bool)) -> Import {
    Import {
        full_name: (*name).to_owned(),
        signature: FunctionSignature {
            calling_convention: Some((*calling_convention).to_owned()),
            attributes: Vec::new(),
        },
        is_optional: *is_optional,
    }
}

/// The signature of a function. The first function is the initialiser.
fn signature(random: &mut Random) -> String {
    if random.chance(4) {
        return "0v_v".to_owned();
    }
    let mut types = |most: usize| -> String {
        let count = random.below(most + 1);
        let types = (0..count).map(|_| *random.choose(&['i', 'I', 'f', 'F', 'r']));
        let types: String = types.collect();
        if types.is_empty() { "v".to_owned() } else { types }
    };
    format!("0{}_{}", types(5), types(3))
}

struct Generator<'r> {
    random: &'r mut Random,
    signatures: &'r [String],
    own: Signature,
    block_count: usize,
}

type Instructions = Vec<(Op, Vec<Value>)>;

impl Generator<'_> {
    fn function(mut self) -> Vec<u8> {
        let terminators: Vec<Op> = Op::all().filter(|op| op.is_terminator()).collect();
        let others: Vec<Op> =
            Op::all().filter(|op| !op.is_terminator() && *op != Op::Block).collect();
        let mut instructions = Instructions::new();
        for block in 0..self.block_count {
            instructions.push((Op::Block, Vec::new()));
            if block == 0 {
                self.beginning(&mut instructions);
            }
            for _ in 0..self.random.below(10) {
                let op = *self.random.choose(&others);
                instructions.push(self.instruction(op));
            }
            // Most blocks branch to others, which makes programs long.
            let op = match self.random.below(3) {
                0 => Op::CondBranch,
                1 => Op::Return,
                _ => *self.random.choose(&terminators),
            };
            instructions.push(self.instruction(op));
        }
        encode_function(&instructions).expect("operands fit their fields")
    }

    /// Sets some registers to small numbers and others to objects.
    fn beginning(&mut self, instructions: &mut Instructions) {
        if self.random.chance(4) {
            return;
        }
        let set = |register: u16, value: i64| {
            let register = Value::Register(Register(register));
            (Op::ConstI64, vec![Value::Immediate(Immediate::I64(value)), register])
        };
        for register in (8..I32_REGISTERS).step_by(2) {
            let value = self.random.number();
            instructions.push(set(register, value));
        }
        let size = 8 * self.random.below(8) as i64;
        instructions.push(set(20, size));
        let (length, none) = (Value::Register(Register(20)), Value::Register(Register(21)));
        let reference = |ordinal: u16| Value::Register(Register(Register::REF_BIT | ordinal));
        let list_type = self.random.below(TYPES.len()) as u32;
        let list = |list_type, target| {
            let element_type = Value::Type(TypeOrdinal(list_type));
            (Op::ListAlloc, vec![element_type, Value::Register(Register(20)), reference(target)])
        };
        instructions.push((Op::BufferAlloc, vec![length.clone(), none, reference(3)]));
        instructions.push(list(list_type, 4));
        instructions.push(list(VARIANT, 5));
        instructions.push(list(BUFFER, 6));
        for target in 4..=6 {
            instructions.push((Op::ListResize, vec![reference(target), length.clone()]));
        }
    }

    fn instruction(&mut self, op: Op) -> (Op, Vec<Value>) {
        let values = match op {
            Op::Return => vec![Value::Registers(self.registers(&self.own.results.clone()))],
            Op::Call | Op::CallYieldable | Op::CallVariadic | Op::CallVariadicYieldable => {
                self.call(op)
            }
            Op::ImportResolved => {
                let import = self.random.below(IMPORTS.len()) as u32;
                let callee = Value::Function(Callee::Import(ImportOrdinal(import)));
                vec![callee, Value::Register(self.register(Bank::I32))]
            }
            _ => op.info().fields.iter().map(|field| self.value(op, field)).collect(),
        };
        (op, values)
    }

    fn call(&mut self, op: Op) -> Vec<Value> {
        let is_variadic = matches!(op, Op::CallVariadic | Op::CallVariadicYieldable);
        let import = self.random.below(IMPORTS.len());
        let signature = Signature::parse(IMPORTS[import].1).expect("imports are well-formed");
        let is_import = is_variadic || !signature.is_variadic() && self.random.chance(2);
        let (callee, signature) = if is_import {
            (Callee::Import(ImportOrdinal(import as u32)), signature)
        } else {
            let function = self.random.below(self.signatures.len());
            let text = &self.signatures[function];
            let signature = Signature::parse(text).expect("signatures are well-formed");
            (Callee::Internal(FunctionOrdinal(function as u32)), signature)
        };
        let (mut segments, mut arguments) = (Vec::new(), Vec::new());
        for value_type in &signature.arguments {
            if let ValueType::Span(tuple) = value_type {
                let count = self.random.below(4);
                segments.push(Register(count as u16));
                for _ in 0..count {
                    arguments.extend(self.registers(tuple));
                }
            } else {
                segments.push(Register(u16::MAX));
                arguments.extend(self.registers(std::slice::from_ref(value_type)));
            }
        }
        let results = self.registers(&signature.results);
        let mut parts = [segments, arguments, results].into_iter().map(Value::Registers);
        if !is_variadic {
            parts.next();
        }
        let mut values = vec![Value::Function(callee)];
        for field in &op.info().fields[1..] {
            values.push(match field.kind {
                FieldKind::Target => self.target(),
                FieldKind::Remap => self.remap(),
                _ => parts.next().expect("a call has at most three lists"),
            });
        }
        values
    }

    fn value(&mut self, op: Op, field: &Field) -> Value {
        match field.kind {
            FieldKind::Read(bank) | FieldKind::Write(bank) => Value::Register(self.register(bank)),
            FieldKind::Reads(bank) | FieldKind::Writes(bank) => {
                let count = self.random.below(4);
                let bank = if op == Op::DiscardRefs { Bank::RefMove } else { bank };
                Value::Registers((0..count).map(|_| self.register(bank)).collect())
            }
            FieldKind::Immediate(bank) => Value::Immediate(self.immediate(bank)),
            FieldKind::Global => Value::Global(match op {
                Op::GlobalLoadRef | Op::GlobalStoreRef => self.random.below(GLOBAL_REFS as usize),
                _ => self.random.below(GLOBAL_BYTES as usize - 7),
            } as u32),
            FieldKind::Type => Value::Type(TypeOrdinal(self.random.below(TYPES.len()) as u32)),
            FieldKind::Rodata => {
                Value::Rodata(RodataOrdinal(self.random.below(RODATA as usize) as u32))
            }
            FieldKind::Function => Value::Function(Callee::Internal(FunctionOrdinal(0))),
            FieldKind::String => Value::String(b"text".to_vec()),
            FieldKind::Target => self.target(),
            FieldKind::Remap => self.remap(),
            FieldKind::Cases => {
                let count = self.random.below(4);
                let case = |_| match (self.target(), self.remap()) {
                    (Value::Target(target), Value::Remap(remap)) => (target, remap),
                    _ => (BytecodeOffset(0), Vec::new()),
                };
                Value::Cases((0..count).map(case).collect())
            }
        }
    }

    /// The index of a block; [`encode_function`] makes it an offset.
    fn target(&mut self) -> Value {
        Value::Target(BytecodeOffset(self.random.below(self.block_count) as u32))
    }

    fn remap(&mut self) -> Value {
        let count = self.random.below(3);
        let copy = |_| {
            let bank = *self.random.choose(&[Bank::I32, Bank::RefMove]);
            (self.register(bank), self.register(bank))
        };
        Value::Remap((0..count).map(copy).collect())
    }

    fn register(&mut self, bank: Bank) -> Register {
        let word = self.random.below(I32_REGISTERS.into()) as u16;
        let reference = self.random.below(REF_REGISTERS.into()) as u16 | Register::REF_BIT;
        let moves = if self.random.chance(4) { Register::MOVE_BIT } else { 0 };
        match bank {
            Bank::I32 | Bank::F32 => Register(word),
            Bank::I64 | Bank::F64 => Register(word & !1),
            Bank::Ref => Register(reference),
            Bank::RefMove => Register(reference | moves),
            Bank::Any if self.random.chance(2) => Register(word),
            Bank::Any => Register(reference | moves),
        }
    }

    fn registers(&mut self, types: &[ValueType]) -> Vec<Register> {
        let bank = |value_type: &ValueType| match value_type {
            ValueType::I32 | ValueType::F32 | ValueType::Span(_) => Bank::I32,
            ValueType::I64 | ValueType::F64 => Bank::I64,
            ValueType::Ref => Bank::RefMove,
        };
        types.iter().map(|value_type| self.register(bank(value_type))).collect()
    }

    fn immediate(&mut self, bank: Bank) -> Immediate {
        let number = self.random.number();
        match bank {
            Bank::I64 => Immediate::I64(number),
            Bank::F32 if self.random.chance(2) => Immediate::F32((number as f32).to_bits()),
            Bank::F32 => Immediate::F32(number as u32),
            Bank::F64 if self.random.chance(2) => Immediate::F64((number as f64).to_bits()),
            Bank::F64 => Immediate::F64(number.cast_unsigned()),
            _ => Immediate::I32(number as i32),
        }
    }
}
