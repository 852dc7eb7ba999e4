//! Structured calls of raw functions (attribute `sip`): the values of a structure spread over raw
//! arguments, and raw results collected into a structure.

use abi::json::{Json, Value as JsonValue};
use abi::signature::Type;
use abi::sip::Spread;

use super::error::{StructureError, fail};
use super::unpack::Unpacked;

/// A raw argument: its type, its place in the call, and its value, if it is given.
type RawArgument<'a> = (&'a Type, String, Option<&'a Json>);

/// The raw arguments, from those of the call in the order of its signature.
pub(super) fn spread_out<'a>(
    spread: &'a Spread,
    given: Vec<(String, Option<&'a Json>)>,
) -> Result<Vec<RawArgument<'a>>, StructureError> {
    let raw = spread.raw.arguments.iter();
    let mut arguments: Vec<RawArgument<'a>> =
        raw.map(|slot| (&slot.ty, String::new(), None)).collect();
    for (slot, (path, json)) in spread.structure.arguments.iter().zip(given) {
        place(&slot.ty, json, path, &mut arguments)?;
    }
    Ok(arguments)
}

/// Puts the values of a part of the structure in their places. A missing part leaves its raw
/// arguments without a value.
fn place<'a>(
    part: &Type,
    json: Option<&'a Json>,
    path: String,
    arguments: &mut [RawArgument<'a>],
) -> Result<(), StructureError> {
    match (part, json.map(|json| &json.value)) {
        (Type::Position(index), _) => {
            if let Some((_, its_path, value)) = arguments.get_mut(*index as usize) {
                (*its_path, *value) = (path, json);
            }
            Ok(())
        }
        (Type::Null, None | Some(JsonValue::Null)) => Ok(()),
        (Type::Null, _) => fail(&path, "expected null: the function has nothing here"),
        (Type::Sequence(_, parts), None) => {
            let items = parts.iter().enumerate();
            items.into_iter().try_for_each(|(index, part)| {
                place(part, None, format!("{path}[{index}]"), arguments)
            })
        }
        (Type::Sequence(_, parts), Some(JsonValue::Array(items))) => {
            if parts.len() != items.len() {
                let (wanted, found) = (parts.len(), items.len());
                return fail(&path, format!("expected {wanted} items, got {found}"));
            }
            let items = parts.iter().zip(items).enumerate();
            items.into_iter().try_for_each(|(index, (part, item))| {
                place(part, Some(item), format!("{path}[{index}]"), arguments)
            })
        }
        (Type::Dictionary(parts), None) => parts
            .iter()
            .try_for_each(|(key, part)| place(part, None, format!("{path}[{key:?}]"), arguments)),
        (Type::Dictionary(parts), Some(JsonValue::Object(fields))) => {
            let is_known = |key: &String| parts.iter().any(|(known, _)| known == key);
            if let Some((extra, _)) = fields.iter().find(|(key, _)| !is_known(key)) {
                let known: Vec<&str> = parts.iter().map(|(key, _)| key.as_str()).collect();
                return fail(
                    &format!("{path}[{extra:?}]"),
                    format!("no such key; there are: {}", known.join(", ")),
                );
            }
            parts.iter().try_for_each(|(key, part)| {
                let field = fields.iter().find(|(found, _)| found == key);
                place(part, field.map(|(_, json)| json), format!("{path}[{key:?}]"), arguments)
            })
        }
        (Type::Dictionary(_), Some(_)) => fail(&path, "expected an object"),
        _ => fail(&path, "expected a list"),
    }
}

/// A part of the structure of results, from the raw results.
pub(super) fn collect(part: &Type, raw: &[Unpacked]) -> Unpacked {
    match part {
        Type::Position(index) => raw.get(*index as usize).cloned().unwrap_or(Unpacked::Null),
        Type::Sequence(form, parts) => {
            Unpacked::Sequence(*form, parts.iter().map(|part| collect(part, raw)).collect())
        }
        Type::Dictionary(parts) => {
            let fields = parts.iter().map(|(key, part)| (key.clone(), collect(part, raw)));
            Unpacked::Dictionary(fields.collect())
        }
        _ => Unpacked::Null,
    }
}

#[cfg(test)]
mod tests {
    use abi::cconv::ValueType;
    use abi::explain::CallForm;
    use abi::sip::{Key, SipSignature, Tree};
    use hal::{Config, Host};
    use proptest::prelude::*;
    use vm::Value;

    use super::super::arguments::Inputs;
    use super::super::{pack, unpack};
    use super::*;

    /// A tree of any shape; its leaves have the raw indices from 0 in some order.
    fn tree() -> impl Strategy<Value = (Tree, usize)> {
        let leaf = Just(Tree::Leaf(0));
        let shape = leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::btree_map(0..6, inner.clone(), 1..4).prop_map(Tree::Sequence),
                proptest::collection::btree_map("[a-c\"é]{1,2}", inner, 1..4).prop_map(|fields| {
                    let fields = fields.into_iter().map(|(key, it)| (key.into_bytes(), it));
                    Tree::Dictionary(fields.collect())
                }),
            ]
        });
        shape.prop_flat_map(|shape| {
            let paths: Vec<Vec<Key>> = shape.paths().into_iter().map(|(path, _)| path).collect();
            let order: Vec<u32> = (0..paths.len() as u32).collect();
            Just(order).prop_shuffle().prop_map(move |order| {
                let mut numbered = None;
                for (path, index) in paths.iter().zip(&order) {
                    Tree::insert(&mut numbered, path, Tree::Leaf(*index)).expect("a free place");
                }
                (numbered.expect("a leaf"), order.len())
            })
        })
    }

    /// The structure with the raw index of each value plus `first` as that value. It is written
    /// here by its definition: gaps are null.
    fn text_of(tree: &Tree, first: u32) -> String {
        match tree {
            Tree::Leaf(index) => (index + first).to_string(),
            Tree::Sequence(fields) => {
                let last = fields.keys().copied().max().unwrap_or(-1);
                let items = (0..=last)
                    .map(|key| fields.get(&key).map_or("null".to_owned(), |it| text_of(it, first)));
                format!("[{}]", items.collect::<Vec<_>>().join(", "))
            }
            Tree::Dictionary(fields) => {
                let fields = fields.iter().map(|(key, it)| {
                    let mut text = String::new();
                    abi::json::write_string(&mut text, &String::from_utf8_lossy(key));
                    format!("{text}: {}", text_of(it, first))
                });
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn form(inputs: Tree, results: Tree, count: [usize; 2]) -> CallForm {
        let sip = SipSignature { inputs: Some(inputs), results: Some(results) };
        let scalars = |count| "S3!t6".repeat(count);
        let span = |tag, text: String| format!("{tag}{}!{text}", text.len() + 1);
        let raw = span("I", scalars(count[0])) + &span("R", scalars(count[1]));
        let sip = String::from_utf8(sip.to_bytes()).expect("keys that are text");
        CallForm::of(None, &[("f", &raw), ("sip", &sip)]).expect("a structured signature")
    }

    fn inputs(tree: &Tree, text: &str) -> Inputs {
        // A root that is neither a sequence nor a dictionary is the only argument.
        let text = match tree {
            Tree::Leaf(_) => format!("[{text}]"),
            Tree::Sequence(_) => text.to_owned(),
            Tree::Dictionary(_) => format!("{{\"args\": [], \"kwargs\": {text}}}"),
        };
        Inputs::from_json(Json::parse(&text).expect("JSON")).expect("arguments")
    }

    proptest! {
        #[test]
        fn each_value_travels_to_its_raw_index_and_back(
            (arguments, count) in tree(),
            (results, result_count) in tree(),
        ) {
            let form = form(arguments.clone(), results.clone(), [count, result_count]);
            let host = Host::new(&Config::default());
            let given = inputs(&arguments, &text_of(&arguments, 100));
            let packed = pack(&host, &form, &vec![ValueType::I32; count], &given);
            let expected: Vec<Value> = (0..count).map(|it| Value::I32(it as i32 + 100)).collect();
            let packed = packed.expect("arguments that fit");
            prop_assert_eq!(format!("{packed:?}"), format!("{expected:?}"));
            let raw: Vec<Value> = (0..result_count).map(|it| Value::I32(it as i32 + 7)).collect();
            let collected = unpack(&form, &raw).expect("results that fit");
            prop_assert_eq!(collected[0].to_json(), text_of(&results, 7));
        }
    }

    #[test]
    fn what_does_not_fit_is_said_with_its_place() {
        // {"x": [_1, nothing, _0], "y": _2} -> nothing
        let (sip, raw) = ("I26!D22!K2!xS9!k0_1k2_0K2!y_2R1!", "I16!S3!t6S3!t6S3!t6R1!");
        let form = CallForm::of(None, &[("f", raw), ("sip", sip)]).unwrap();
        let host = Host::new(&Config::default());
        let call = |json: &str| {
            let inputs = Inputs::from_json(Json::parse(json).unwrap()).unwrap();
            match pack(&host, &form, &[ValueType::I32, ValueType::I32, ValueType::I32], &inputs) {
                Ok(values) => format!("{values:?}"),
                Err(error) => error.to_string(),
            }
        };
        assert_eq!(call("{\"x\": [1, null, 2], \"y\": 3}"), "[I32(2), I32(1), I32(3)]");
        for (json, expected) in [
            ("{\"x\": [1, null, 2]}", "kwargs[\"y\"]: missing; expected si32"),
            ("{\"y\": 3}", "kwargs[\"x\"][2]: missing; expected si32"),
            ("{\"x\": [1, 5, 2], \"y\": 3}", "kwargs[\"x\"][1]: expected null"),
            ("{\"x\": [1, null], \"y\": 3}", "kwargs[\"x\"]: expected 3 items, got 2"),
            ("{\"x\": 1, \"y\": 3}", "kwargs[\"x\"]: expected a list"),
            ("{\"x\": [1, null, \"a\"], \"y\": 3}", "kwargs[\"x\"][2]: expected si32, got"),
            ("{\"z\": 1}", "kwargs[\"z\"]: no argument has this name; named are: x, y"),
        ] {
            assert!(call(json).contains(expected), "{json}: {}", call(json));
        }
        for (sip, raw, expected) in [
            (sip, "I11!S3!t6S3!t6R1!", "raw index 2 is out of range"),
            (sip, "I21!S3!t6S3!t6S3!t6S3!t6R1!", "the raw argument 3 has no place"),
            ("I9!S5!k0_0k1_0R1!", "I6!S3!t6R1!", "malformed"),
            ("I12!S9!k0_0k1_0R1!", "I6!S3!t6R1!", "the raw argument 0 has several places"),
            (sip, "I9!", "the attribute `f` is malformed"),
        ] {
            let error = CallForm::of(None, &[("f", raw), ("sip", sip)]).unwrap_err();
            assert!(error.to_string().contains(expected), "{sip} {raw}: {error}");
        }
    }
}
