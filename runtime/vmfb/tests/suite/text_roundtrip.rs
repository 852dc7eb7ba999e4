//! Printing a module and assembling the text gives the same module, for generated modules whose
//! names and strings are free text, as far as the text can tell.

use abi::cconv::{Signature, ValueType};
use proptest::collection::vec;
use proptest::prelude::*;
use vmfb::assemble::{assemble, render};
use vmfb::build::{ModuleImage, RodataImage};
use vmfb::debug_database::{DebugDatabase, FunctionSourceMap};
use vmfb::decode::Immediate;
use vmfb::encode::{Value, encode_function};
use vmfb::isa::{Bank, FieldKind};
use vmfb::print::{DisassemblyOptions, Rodata, disassemble};
use vmfb::{
    BytecodeOffset, Callee, FunctionOrdinal, ImportOrdinal, Module, Op, Register, RodataOrdinal,
    TypeOrdinal,
};
use vmfb::{
    BytecodeVersion, Export, Features, Function, FunctionSignature, Import, ModuleState, TypeDef,
};

const TYPES: [&str; 5] = ["i32", "!vm.buffer", "!vm.list<!vm.list<i32>>", "!vm.list<?>", "i8"];
const IMPORTS: u32 = 3;
const FUNCTIONS: u32 = 4;
const BLOCKS: u32 = 3;
const RODATA: u32 = 2;

/// Names as compilers of models write them, with everything that has a meaning elsewhere in the
/// text.
fn free_name() -> impl Strategy<Value = String> {
    "[A-Za-z_][A-Za-z0-9_$. ()/#=@-]{0,12}[A-Za-z0-9_$)]"
}

fn string() -> impl Strategy<Value = Vec<u8>> {
    "[A-Za-z0-9 ,()%:#/\\\\'=\\[\\]{}é-]{0,16}".prop_map(String::into_bytes)
}

fn register(bank: Bank) -> BoxedStrategy<Register> {
    let number = 0_u16..20;
    match bank {
        Bank::I32 | Bank::F32 => number.prop_map(Register).boxed(),
        Bank::I64 | Bank::F64 => number.prop_map(|it| Register(it * 2)).boxed(),
        Bank::Ref => number.prop_map(|it| Register(it | Register::REF_BIT)).boxed(),
        Bank::RefMove => (number, any::<bool>())
            .prop_map(|(it, moves)| {
                Register(it | Register::REF_BIT | if moves { Register::MOVE_BIT } else { 0 })
            })
            .boxed(),
        Bank::Any => prop_oneof![register(Bank::I32), register(Bank::RefMove)].boxed(),
    }
}

/// No NaN with a payload: the text does not show payloads.
fn immediate(bank: Bank) -> BoxedStrategy<Immediate> {
    match bank {
        Bank::I64 => any::<i64>().prop_map(Immediate::I64).boxed(),
        Bank::F32 => any::<f32>()
            .prop_map(|it| if it.is_nan() { f32::NEG_INFINITY } else { it })
            .prop_map(|it| Immediate::F32(it.to_bits()))
            .boxed(),
        Bank::F64 => any::<f64>()
            .prop_map(|it| if it.is_nan() { f64::INFINITY } else { it })
            .prop_map(|it| Immediate::F64(it.to_bits()))
            .boxed(),
        _ => any::<i32>().prop_map(Immediate::I32).boxed(),
    }
}

/// Targets are indices of blocks.
fn target() -> impl Strategy<Value = BytecodeOffset> {
    (0..BLOCKS).prop_map(BytecodeOffset)
}

fn remap() -> impl Strategy<Value = Vec<(Register, Register)>> {
    vec((register(Bank::Any), register(Bank::Any)), 0..3)
}

fn value(op: Op, name: &str, kind: FieldKind) -> BoxedStrategy<Value> {
    match kind {
        // Its move bit is not printed.
        FieldKind::Write(_) if op == Op::ConstRefZero => {
            register(Bank::Ref).prop_map(Value::Register).boxed()
        }
        FieldKind::Read(bank) | FieldKind::Write(bank) => {
            register(bank).prop_map(Value::Register).boxed()
        }
        FieldKind::Reads(_) if name == "segment_sizes" => {
            vec(any::<u16>().prop_map(Register), 0..4).prop_map(Value::Registers).boxed()
        }
        FieldKind::Reads(bank) | FieldKind::Writes(bank) => {
            vec(register(bank), 0..4).prop_map(Value::Registers).boxed()
        }
        FieldKind::Immediate(bank) => immediate(bank).prop_map(Value::Immediate).boxed(),
        FieldKind::Global => (0_u32..5).prop_map(|it| Value::Global(it * 8)).boxed(),
        FieldKind::Type => {
            (0..TYPES.len() as u32).prop_map(|it| Value::Type(TypeOrdinal(it))).boxed()
        }
        FieldKind::Rodata => (0..RODATA).prop_map(|it| Value::Rodata(RodataOrdinal(it))).boxed(),
        FieldKind::Function if op == Op::ImportResolved => {
            (0..IMPORTS).prop_map(|it| Value::Function(Callee::Import(ImportOrdinal(it)))).boxed()
        }
        FieldKind::Function => prop_oneof![
            (0..IMPORTS).prop_map(|it| Value::Function(Callee::Import(ImportOrdinal(it)))),
            (0..FUNCTIONS).prop_map(|it| Value::Function(Callee::Internal(FunctionOrdinal(it)))),
        ]
        .boxed(),
        FieldKind::String => string().prop_map(Value::String).boxed(),
        FieldKind::Target => target().prop_map(Value::Target).boxed(),
        FieldKind::Remap => remap().prop_map(Value::Remap).boxed(),
        FieldKind::Cases => vec((target(), remap()), 0..3).prop_map(Value::Cases).boxed(),
    }
}

/// An instruction that ends a block, or one that does not. The type of `switch.ref` is not printed.
fn instruction(is_terminator: bool) -> impl Strategy<Value = (Op, Vec<Value>)> {
    let is_wanted = move |op: &Op| {
        op.is_terminator() == is_terminator && ![Op::Block, Op::SwitchRef].contains(op)
    };
    let ops: Vec<Op> = Op::all().filter(is_wanted).collect();
    proptest::sample::select(ops).prop_flat_map(|op| {
        let fields = op.info().fields.iter();
        let values: Vec<_> = fields.map(|field| value(op, field.name, field.kind)).collect();
        (Just(op), values)
    })
}

type Instructions = Vec<(Op, Vec<Value>)>;

fn body() -> impl Strategy<Value = Instructions> {
    let block = (vec(instruction(false), 0..6), instruction(true));
    vec(block, BLOCKS as usize).prop_map(|blocks| {
        let blocks = blocks.into_iter().map(|(mut instructions, terminator)| {
            instructions.insert(0, (Op::Block, Vec::new()));
            instructions.push(terminator);
            instructions
        });
        blocks.flatten().collect()
    })
}

/// Makes calls of the module's own functions match their signatures, as in every module that can
/// run: if all functions are exported and calls do not match, the text may be that of a truncated
/// database.
fn fit_calls(instructions: &mut Instructions, signatures: &[Signature]) {
    for (op, values) in instructions {
        let is_variadic = matches!(op, Op::CallVariadic | Op::CallVariadicYieldable);
        let Some(Value::Function(Callee::Internal(callee))) = values.first() else { continue };
        let signature = &signatures[callee.index()];
        let lists = values.iter_mut().filter_map(|value| match value {
            Value::Registers(list) => Some(list),
            _ => None,
        });
        let lists = lists.skip(usize::from(is_variadic));
        for (list, types) in lists.zip([&signature.arguments, &signature.results]) {
            *list =
                types
                    .iter()
                    .map(|it| {
                        if *it == ValueType::Ref {
                            Register(Register::REF_BIT)
                        } else {
                            Register(0)
                        }
                    })
                    .collect();
        }
    }
}

prop_compose! {
    fn module()(
        name in "[a-z][a-z_]{0,5}",
        version in any::<u32>(),
        imports in proptest::collection::btree_set(free_name(), IMPORTS as usize),
        conventions in vec("0[iIfFr]{1,3}(CiD)?_[iIfFr]{1,2}", IMPORTS as usize),
        optional in vec(any::<bool>(), IMPORTS as usize),
        exports in proptest::collection::btree_set(free_name(), FUNCTIONS as usize),
        exported in vec(0_usize..3, FUNCTIONS as usize),
        signatures in vec("0[iIfFr]{1,5}_[iIfFr]{1,3}", FUNCTIONS as usize),
        bodies in vec(body(), FUNCTIONS as usize),
        rodata in vec(vec(any::<u8>(), 0..80), RODATA as usize),
        has_database in any::<bool>(),
    ) -> ModuleImage<'static> {
        let mut bytecode_data = Vec::new();
        let mut functions = Vec::new();
        let parsed: Vec<Signature> =
            signatures.iter().map(|it: &String| Signature::parse(it).unwrap()).collect();
        for (mut body, signature) in bodies.into_iter().zip(signatures) {
            fit_calls(&mut body, &parsed);
            let start = bytecode_data.len();
            bytecode_data.extend(encode_function(&body).expect("generated values fit"));
            functions.push(Function {
                bytecode: start..bytecode_data.len(),
                requirements: Features::default(),
                block_count: BLOCKS as u16,
                i32_register_count: 100,
                ref_register_count: 100,
                signature: FunctionSignature {
                    calling_convention: Some(signature),
                    attributes: Vec::new(),
                },
            });
            bytecode_data.resize(bytecode_data.len().next_multiple_of(8), 0);
        }
        let database = DebugDatabase {
            locations: Vec::new(),
            functions: exports
                .iter()
                .zip(&exported)
                .map(|(name, count)| FunctionSourceMap {
                    local_name: if *count == 0 { format!("own {name}") } else { name.clone() },
                    locations: Vec::new(),
                })
                .collect(),
        };
        // Not exported, exported, exported twice.
        let exports = exports.into_iter().zip(exported).enumerate();
        let exports = exports.flat_map(|(index, (name, count))| {
            let function = FunctionOrdinal(index as u32);
            let names = [name.clone(), format!("{name} again")];
            names.into_iter().take(count).map(move |name| Export { name, function })
        });
        ModuleImage {
            name,
            version,
            bytecode_version: BytecodeVersion::NEWEST,
            requirements: Features::default(),
            attributes: Vec::new(),
            types: TYPES.map(|name| TypeDef { full_name: name.to_owned() }).to_vec(),
            dependencies: Vec::new(),
            imports: imports
                .into_iter()
                .zip(conventions)
                .zip(optional)
                .map(|((name, convention), is_optional)| Import {
                    full_name: format!("Other.{name}"),
                    signature: FunctionSignature {
                        calling_convention: Some(convention),
                        attributes: Vec::new(),
                    },
                    is_optional,
                })
                .collect(),
            exports: exports.collect(),
            functions,
            bytecode: bytecode_data.into(),
            rodata: rodata.into_iter().map(RodataImage::new).collect(),
            rwdata: Vec::new(),
            state: ModuleState { global_bytes: 100, global_refs: 100 },
            debug_database: has_database.then_some(database),
        }
    }
}

fn load(image: &ModuleImage<'_>) -> Module {
    Module::from_bytes(image.to_bytes().expect("it can be written")).expect("it can be loaded")
}

fn print(module: &Module, bytecode_offsets: bool) -> String {
    let options =
        DisassemblyOptions { bytecode_offsets, rodata: Rodata::Full, ..Default::default() };
    disassemble(module, &options).text
}

/// Drops what follows from the instructions, and is generated larger than necessary.
fn forget_derived(image: &mut ModuleImage<'_>) {
    image.requirements = Features::default();
    image.state = ModuleState::default();
    // Names that exports tell too are not kept.
    image.debug_database = None;
    for function in &mut image.functions {
        function.requirements = Features::default();
        function.i32_register_count = 0;
        function.ref_register_count = 0;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn assembling_what_was_printed(image in module(), bytecode_offsets in any::<bool>()) {
        let text = print(&load(&image), bytecode_offsets);
        let assembly = assemble(text.as_bytes())
            .map_err(|diagnostics| render(&diagnostics, text.as_bytes(), "printed.vmasm"));
        prop_assert!(assembly.is_ok(), "{}\n{text}", assembly.unwrap_err());
        let again = assembly.unwrap().image;
        prop_assert_eq!(&print(&load(&again), bytecode_offsets), &text);

        // Once derived, the same is derived again.
        let third = assemble(print(&load(&again), false).as_bytes()).expect("as before").image;
        prop_assert_eq!(&third, &again);

        let (mut image, mut again) = (image, again);
        forget_derived(&mut image);
        forget_derived(&mut again);
        prop_assert_eq!(&again, &image);
    }
}
