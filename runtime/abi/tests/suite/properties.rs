//! Properties of every signature (printed and parsed again, it is the same) and of every text (it
//! is parsed or refused, in time proportional to its length).

use abi::convention::Convention;
use abi::explain::explain;
use abi::json::Json;
use abi::raw::RawSignature;
use abi::signature::{
    Array, Function, Layout, ScalarType, SequenceForm, Signedness, Slot, Type, Vector,
};
use abi::sip::{SipSignature, flatten};
use proptest::prelude::*;

fn scalar() -> impl Strategy<Value = ScalarType> {
    let bits = prop::sample::select(vec![1_u32, 8, 16, 32, 64]);
    let floats = ["bf16", "f8E4M3FN", "f8E5M2", "complex<f32>", "complex<f64>"];
    prop_oneof![
        bits.prop_map(ScalarType::signless),
        prop::sample::select(vec![16_u32, 32, 64]).prop_map(ScalarType::Float),
        prop::sample::select(floats.to_vec()).prop_map(|name| ScalarType::parse(name).unwrap()),
    ]
}

fn shape() -> impl Strategy<Value = Option<Vec<Option<u64>>>> {
    let dimension = prop::option::weighted(0.7, 0_u64..1000);
    prop::option::weighted(0.9, prop::collection::vec(dimension, 0..5))
}

fn array() -> impl Strategy<Value = Type> {
    (scalar(), shape())
        .prop_map(|(element, shape)| Type::Array(Array::dense(Type::Scalar(element), shape)))
}

fn slots(ty: impl Strategy<Value = Type>) -> impl Strategy<Value = Vec<Slot>> {
    prop::collection::vec(ty.prop_map(Slot::of), 0..5)
}

fn function(ty: impl Strategy<Value = Type> + Clone) -> impl Strategy<Value = Function> {
    (slots(ty.clone()), slots(ty)).prop_map(|(arguments, results)| Function {
        name: None,
        arguments,
        results: results.into_iter().map(Slot::owned).collect(),
    })
}

/// Types that `iree.abi` describes completely.
fn record() -> impl Strategy<Value = Type> + Clone {
    let leaf = prop_oneof![
        scalar().prop_map(Type::Scalar),
        array(),
        Just(Type::Null),
        Just(Type::Unknown),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..4);
        let fields = prop::collection::btree_map("[ -~é\n\"\\\\]{0,6}", inner.clone(), 0..4);
        prop_oneof![
            items.clone().prop_map(|items| Type::Sequence(SequenceForm::List, items)),
            items.prop_map(|items| Type::Sequence(SequenceForm::Tuple, items)),
            fields.prop_map(|fields| Type::Dictionary(fields.into_iter().collect())),
            inner.prop_map(|item| Type::List(Box::new(item))),
        ]
    })
    .boxed()
}

/// Types that MLIR writes.
fn mlir() -> impl Strategy<Value = Type> + Clone {
    let vector = (prop::collection::vec((1_u64..9, any::<bool>()), 0..3)).prop_map(|dimensions| {
        Type::Vector(Vector { dimensions, element: Box::new(Type::scalar("f32")) })
    });
    let strided = (
        prop::collection::vec((prop::option::of(0_u64..9), prop::option::of(-9_i64..9)), 1..4),
        prop::option::of(1_i64..9),
        prop::option::of(1_u32..9),
    )
        .prop_map(|(dimensions, offset, space)| {
            let (shape, strides) = dimensions.into_iter().unzip();
            let mut array = Array::dense(Type::scalar("i8"), Some(shape));
            array.layout = Layout::Strided { strides, offset };
            array.memory_space = space.map(|space| space.to_string());
            Type::Array(array)
        });
    let names = ["!hal.fence", "!llvm.ptr", "!torch.vtensor<[?,3],f32>"];
    let leaf = prop_oneof![
        scalar().prop_map(Type::Scalar),
        Just(Type::Scalar(ScalarType::Index)),
        array(),
        vector,
        strided,
        prop::sample::select(names.to_vec())
            .prop_map(|name| Type::Reference(Some(name.to_owned()))),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        (prop::collection::vec(inner.clone(), 0..3), prop::collection::vec(inner, 0..3)).prop_map(
            |(arguments, results)| {
                let slots = |types: Vec<Type>| types.into_iter().map(Slot::of);
                Type::Function(Some(Box::new(Function {
                    name: None,
                    arguments: slots(arguments).collect(),
                    results: slots(results).map(Slot::owned).collect(),
                })))
            },
        )
    })
    .boxed()
}

/// Types of the raw ABI.
fn raw() -> impl Strategy<Value = Type> + Clone {
    let codes =
        ["f16", "f32", "f64", "bf16", "si8", "si16", "si32", "si64", "ui8", "ui16", "ui32", "ui64"];
    let scalar = prop::sample::select(codes.to_vec()).prop_map(Type::scalar);
    let dimension = prop::option::of(0_u64..=i32::MAX as u64);
    let buffer = (scalar.clone(), prop::collection::vec(dimension, 0..5))
        .prop_map(|(element, shape)| Type::Array(Array::dense(element, Some(shape))));
    prop_oneof![scalar, buffer, Just(Type::Reference(None)), Just(Type::Unknown)].boxed()
}

/// Structures over the raw ABI. Empty ones cannot be in an index path.
fn structured() -> impl Strategy<Value = Type> + Clone {
    raw()
        .prop_recursive(3, 16, 3, |inner| {
            let items = prop::collection::vec(inner.clone(), 0..3);
            let fields = prop::collection::btree_map("[a-z0-9!]{0,4}", inner, 0..3);
            prop_oneof![
                items.prop_map(|items| Type::Sequence(SequenceForm::List, items)),
                fields.prop_map(|fields| Type::Dictionary(fields.into_iter().collect())),
            ]
        })
        .boxed()
}

/// Types of TVM FFI.
fn tvm() -> impl Strategy<Value = Type> + Clone {
    let leaf = prop_oneof![
        Just(Type::Null),
        Just(Type::Any),
        Just(Type::scalar("i64")),
        Just(Type::scalar("f64")),
        Just(Type::Scalar(ScalarType::BOOL)),
        Just(Type::String),
        Just(Type::Bytes),
        Just(Type::Array(Array::dense(Type::Unknown, None))),
        Just(Type::Function(None)),
        Just(Type::Reference(Some("my.Object".to_owned()))),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let items = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            inner.clone().prop_map(|item| Type::List(Box::new(item))),
            inner.clone().prop_map(|item| Type::Optional(Box::new(item))),
            (inner.clone(), inner).prop_map(|(k, v)| Type::Map(Box::new(k), Box::new(v))),
            items.clone().prop_map(Type::OneOf),
            items.prop_map(|items| Type::Sequence(SequenceForm::Tuple, items)),
        ]
    })
    .boxed()
}

fn cconv() -> impl Strategy<Value = Type> + Clone {
    let scalar = prop_oneof![
        prop::sample::select(vec!["i32", "i64", "f32", "f64"]).prop_map(Type::scalar),
        Just(Type::Reference(None)),
    ];
    let span = prop::collection::vec(scalar.clone(), 1..4).prop_map(Type::Variadic);
    prop_oneof![3 => scalar, 1 => span].boxed()
}

fn comes_back(convention: Convention, function: &Function) {
    let printed = convention.print(function).unwrap();
    let read = convention.parse(&printed.text);
    assert_eq!(read.as_ref(), Ok(function), "{}", printed.text);
}

proptest! {
    #[test]
    fn cconv_comes_back(function in function(cconv())) {
        comes_back(Convention::Cconv, &function);
    }

    #[test]
    fn iree_comes_back(mut function in function(record()), names in prop::collection::btree_set("[a-z\"]{1,3}", 0..3)) {
        let first = function.arguments.len().saturating_sub(names.len());
        for (slot, name) in function.arguments[first..].iter_mut().zip(names) {
            slot.name = Some(name);
            slot.keyword = true;
        }
        comes_back(Convention::Iree, &function);
    }

    #[test]
    fn raw_comes_back(function in function(raw())) {
        comes_back(Convention::Raw, &function);
    }

    #[test]
    fn sip_and_raw_come_back_together(function in function(structured())) {
        let sip = Convention::Sip.print(&function).unwrap().text;
        let raw = Convention::Raw.print(&flatten(&function)).unwrap().text;
        let raw = RawSignature::parse(&raw).unwrap();
        let read = SipSignature::parse(sip.as_bytes()).unwrap().to_function(Some(&raw)).unwrap();
        let mut expected = function;
        // Several results are the items of one list.
        if expected.results.len() > 1 {
            let items = expected.results.drain(..).map(|slot| slot.ty).collect();
            expected.results = vec![Slot::of(Type::Sequence(SequenceForm::List, items)).owned()];
        }
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn tvm_comes_back(function in function(tvm())) {
        let has_null = function.results.iter().any(|slot| slot.ty == Type::Null);
        prop_assume!(function.results.len() <= 1 && !has_null);
        comes_back(Convention::Tvm, &function);
    }

    #[test]
    fn memref_comes_back(function in function(mlir())) {
        let text = Convention::Memref.print(&function).unwrap().text;
        let read = Convention::Memref.parse(&text).unwrap();
        // Strides that follow from the shape are left out when read.
        prop_assert_eq!(Convention::Memref.print(&read).unwrap().text.len() <= text.len(), true);
        comes_back(Convention::Memref, &read);
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,80}") {
        every_parser(&text);
    }
}

/// Runs every parser on a text.
fn every_parser(text: &str) {
    for convention in Convention::ALL {
        match convention.parse(text) {
            Ok(function) => {
                for other in Convention::ALL {
                    let _ = other.print(&function);
                }
                let _ = abi::mlir::lowering::lower(&function);
            }
            Err(error) => assert!(error.position <= text.len(), "{text:?}: {error}"),
        }
    }
    let _ = Json::parse(text);
    let _ = abi::mlir::function::parse(text);
    let _ = abi::tvm::layout::Any::from_bytes(text.as_bytes()).map(abi::tvm::layout::Any::decode);
    let _ = abi::mlir::descriptor::Descriptor::read(text.as_bytes(), text.len() % 7);
    let _ = explain(
        Some(text),
        &[("iree.abi", text), ("f", text), ("sip", text), ("iree.abi.declaration", text)],
    );
}

/// A small random generator, so that a failure can be repeated from its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// Damaged golden texts: bytes changed, removed or doubled, and pieces of other texts inserted.
/// `FUZZ_ROUNDS` sets the number of rounds.
#[test]
fn damaged_texts_are_read_or_refused() {
    let rounds =
        std::env::var("FUZZ_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_usize);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut lines = Vec::new();
    for convention in Convention::ALL {
        let text =
            std::fs::read_to_string(folder.join(format!("{}.txt", convention.name()))).unwrap();
        lines.extend(text.lines().filter(|line| !line.starts_with("  ")).map(str::to_owned));
    }
    for (number, line) in lines.iter().enumerate() {
        for round in 0..rounds {
            let mut random = Random(1 + (number * rounds + round) as u64 * 0x9E37_79B9);
            let mut bytes = line.clone().into_bytes();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len() + 1);
                match random.below(4) {
                    0 => bytes.truncate(at),
                    1 => bytes.insert(at, b"0129!-_[]{}()<>,\"\\ISRDKkxC*?"[random.below(28)]),
                    2 if at < bytes.len() => {
                        bytes.remove(at);
                    }
                    _ => {
                        let other = &lines[random.below(lines.len())];
                        let from = random.below(other.len() + 1);
                        bytes.splice(at..at, other.as_bytes()[from..].iter().copied());
                    }
                }
            }
            every_parser(&String::from_utf8_lossy(&bytes));
        }
    }
}

/// Texts that would take quadratic time, or a deep stack, in a careless parser.
#[test]
fn hostile_texts_cost_no_more_than_their_length() {
    const LONG: usize = 200_000;
    for text in [
        "I2147483647!".repeat(LONG / 12),
        "I1!".repeat(LONG / 3),
        format!("I{}!{}R1!", LONG + 1, "B1!".repeat(LONG / 3)),
        "S9!k0".repeat(LONG / 5),
        "[".repeat(LONG),
        "{\"a\":".repeat(LONG / 5),
        format!("{{\"a\":[{}],\"r\":[]}}", "[\"slist\",".repeat(LONG / 9)),
        "(".repeat(LONG),
        "memref<1xmemref<1x".repeat(LONG / 18),
        "!a<".repeat(LONG / 3),
        format!("memref<4xf32, affine_map<(d0) -> ({}d0)>>", "(".repeat(LONG)),
        format!("memref<4xf32, affine_map<(d0) -> ({}d0)>>", "-".repeat(LONG)),
        "Array[".repeat(LONG / 6),
        "0C".repeat(LONG / 2),
        format!("0{}_v", "i".repeat(LONG)),
    ] {
        every_parser(&text);
    }
}

#[test]
fn signless_integers_become_signed_in_raw() {
    let function = Convention::Memref.parse("(i32, memref<4xi1>) -> index").unwrap();
    assert_eq!(Convention::Raw.print(&function).unwrap().text, "I13!S3!t6B5!t4d4R6!S3!t7");
    let read = Convention::Raw.parse("I6!S3!t6R1!").unwrap();
    assert_eq!(read.arguments[0].ty, Type::Scalar(ScalarType::Integer(Signedness::Signed, 32)));
}
