//! `iree.abi`: the JSON that describes arguments and results to language bindings, version 1.
//!
//! ```text
//! text      = {"a": [record…], "r": [record…], "v": 1}           arguments, results; "v" may be missing
//! record    = "i<bits>" | "f<bits>" | "bf16" | "unknown" | null | compound
//! compound  = ["named", key, record]                              an argument passed by name; directly in "a" only
//!           | ["ndarray", record, rank, dim…] | ["ndarray", record, null]      an unknown dim is null
//!           | ["slist", record…] | ["stuple", record…] | ["sdict", [key, record]…]
//!           | ["py_homogeneous_list", record]
//! ```
//!
//! Importers of 2021 wrote `sdict_kwargs`, `pytuple`, `py_uniform_list`, `py_uniform_dict` and
//! `pystr`; these are accepted, and printed with today's names. A structure is passed as a list of
//! its values in the order of the record, without keys. A single result that is a structure is
//! unpacked: its values are the results of the VM function ([`wire_results`]).

use crate::signature::{
    Array, Function, Layout, NoForm, Printed, ScalarType, SequenceForm, Slot, Type,
    Unrepresentable, each_slot, note,
};
use crate::text::cursor::SyntaxError;
use crate::text::json::{Json, Value, write_string};

/// A parsed signature, with remarks about its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// Arguments and results.
    pub function: Function,
    /// The version that the text states.
    pub version: Option<i64>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
}

/// Parses the value of an `iree.abi` attribute.
///
/// # Errors
/// At the byte where the text is no JSON, or no record.
pub fn parse(text: &str) -> Result<Parsed, SyntaxError> {
    let json = Json::parse(text)?;
    let Value::Object(fields) = &json.value else {
        return Err(SyntaxError::at(
            json.position,
            format!("expected an object with `a` and `r`, but this is {}", json.kind()),
        ));
    };
    let mut notes = Vec::new();
    let mut version = None;
    for (key, value) in fields {
        match (key.as_str(), &value.value) {
            ("a" | "r", _) => {}
            ("v", Value::Number(number)) if number.parse::<i64>().is_ok() => {
                version = number.parse().ok();
                if version != Some(1) {
                    note(
                        &mut notes,
                        &format!("version {number} is not known; it is read as version 1"),
                    );
                }
            }
            ("v", _) => {
                return Err(SyntaxError::at(value.position, "the version `v` is a whole number"));
            }
            (key, _) => {
                note(&mut notes, &format!("the key `{key}` means nothing here and is skipped"));
            }
        }
    }
    let mut records = |key: &str, what: &str| {
        let list = json.get(key).ok_or_else(|| {
            SyntaxError::at(json.position, format!("`{key}`, the list of {what}, is missing"))
        })?;
        let items = list.as_array().ok_or_else(|| {
            SyntaxError::at(
                list.position,
                format!("`{key}` is a list of records, not {}", list.kind()),
            )
        })?;
        items
            .iter()
            .map(|item| parse_slot(item, key == "a", &mut notes))
            .collect::<Result<Vec<_>, _>>()
    };
    let arguments = records("a", "arguments")?;
    let results = records("r", "results")?;
    let mut names = std::collections::HashSet::new();
    for (index, name) in arguments.iter().map(|slot| slot.name.as_ref()).enumerate() {
        if let Some(name) = name.filter(|name| !names.insert(*name)) {
            let records = json.get("a").and_then(Json::as_array).unwrap_or_default();
            let position = records.get(index).map_or(json.position, |record| record.position);
            return Err(SyntaxError::at(position, format!("a second argument is named `{name}`")));
        }
    }
    let results = results.into_iter().map(Slot::owned).collect();
    Ok(Parsed { function: Function { name: None, arguments, results }, version, notes })
}

fn parse_slot(
    json: &Json,
    may_be_named: bool,
    notes: &mut Vec<String>,
) -> Result<Slot, SyntaxError> {
    let Some([tag, rest @ ..]) = json.as_array() else {
        return Ok(Slot::of(parse_record(json, notes)?));
    };
    if tag.as_str() != Some("named") {
        return Ok(Slot::of(parse_record(json, notes)?));
    }
    if !may_be_named {
        return Err(SyntaxError::at(tag.position, "`named` describes arguments only"));
    }
    let [key, ty] = rest else {
        return Err(SyntaxError::at(json.position, "expected [\"named\", key, record]"));
    };
    let key = string(key, "the name of an argument")?;
    let mut slot = Slot::of(parse_record(ty, notes)?).named(key);
    slot.keyword = true;
    Ok(slot)
}

fn parse_record(json: &Json, notes: &mut Vec<String>) -> Result<Type, SyntaxError> {
    match &json.value {
        Value::Null => Ok(Type::Null),
        Value::String(name) => parse_primitive(name, json.position, notes),
        Value::Array(items) => parse_compound(json, items, notes),
        _ => Err(SyntaxError::at(
            json.position,
            format!(
                "expected a record (a string, null, or a list that begins with its kind), but this is {}",
                json.kind()
            ),
        )),
    }
}

fn parse_primitive(
    name: &str,
    position: usize,
    notes: &mut Vec<String>,
) -> Result<Type, SyntaxError> {
    match name {
        "unknown" => return Ok(Type::Unknown),
        "pystr" => {
            note(notes, "`pystr` is an old name for a string");
            return Ok(Type::String);
        }
        _ => {}
    }
    match ScalarType::parse(name) {
        Some(ScalarType::Index) | None => Err(SyntaxError::at(
            position,
            format!("`{name}` is no primitive type; they are i<bits>, f<bits>, bf16 and unknown"),
        )),
        Some(scalar) => {
            let is_standard = matches!(
                scalar,
                ScalarType::Integer(crate::signature::Signedness::Signless, _)
                    | ScalarType::Float(_)
            ) || scalar == ScalarType::BF16;
            if !is_standard {
                note(
                    notes,
                    &format!(
                        "`{name}` is beyond the specification, which has i<bits>, f<bits> and bf16"
                    ),
                );
            }
            Ok(Type::Scalar(scalar))
        }
    }
}

fn parse_compound(
    json: &Json,
    items: &[Json],
    notes: &mut Vec<String>,
) -> Result<Type, SyntaxError> {
    let Some((tag, rest)) = items.split_first() else {
        return Err(SyntaxError::at(
            json.position,
            "an empty list is no record; the first item is its kind",
        ));
    };
    let kind = string(tag, "the kind of a record")?;
    let mut all = |items: &[Json]| {
        items.iter().map(|item| parse_record(item, notes)).collect::<Result<Vec<_>, _>>()
    };
    let one = |what: &str| match rest {
        [item] => Ok(item),
        _ => Err(SyntaxError::at(
            json.position,
            format!("expected [\"{kind}\", {what}], but {} items follow the kind", rest.len()),
        )),
    };
    Ok(match kind {
        "ndarray" => parse_ndarray(json, rest, notes)?,
        "slist" => Type::Sequence(SequenceForm::List, all(rest)?),
        "stuple" => Type::Sequence(SequenceForm::Tuple, all(rest)?),
        "pytuple" => {
            let items = all(rest)?;
            note(notes, "`pytuple` is an old name for `stuple`");
            Type::Sequence(SequenceForm::Tuple, items)
        }
        "sdict" => parse_dictionary(rest, notes)?,
        "sdict_kwargs" => {
            note(
                notes,
                "`sdict_kwargs` is an old record: a structure of the arguments that are passed by name",
            );
            parse_dictionary(rest, notes)?
        }
        "py_homogeneous_list" => Type::List(Box::new(parse_record(one("record")?, notes)?)),
        "py_uniform_list" => {
            note(notes, "`py_uniform_list` is an old name for `py_homogeneous_list`");
            Type::List(Box::new(parse_record(one("record")?, notes)?))
        }
        "py_uniform_dict" => {
            let [key, value] = rest else {
                return Err(SyntaxError::at(
                    json.position,
                    "expected [\"py_uniform_dict\", key record, value record]",
                ));
            };
            note(notes, "`py_uniform_dict` is an old record without a form of today");
            Type::Map(Box::new(parse_record(key, notes)?), Box::new(parse_record(value, notes)?))
        }
        "named" => {
            return Err(SyntaxError::at(
                tag.position,
                "`named` stands directly in the list of arguments only",
            ));
        }
        other => {
            return Err(SyntaxError::at(
                tag.position,
                format!(
                    "`{other}` is no kind of record; they are named, ndarray, slist, stuple, sdict and py_homogeneous_list"
                ),
            ));
        }
    })
}

fn parse_ndarray(json: &Json, rest: &[Json], notes: &mut Vec<String>) -> Result<Type, SyntaxError> {
    let [element, rank, dimensions @ ..] = rest else {
        return Err(SyntaxError::at(
            json.position,
            "expected [\"ndarray\", element record, rank, dimension…]",
        ));
    };
    let element = parse_record(element, notes)?;
    let shape = match &rank.value {
        Value::Null => {
            if let Some(first) = dimensions.first() {
                return Err(SyntaxError::at(
                    first.position,
                    "an array of unknown rank has no dimensions",
                ));
            }
            None
        }
        Value::Number(number) => {
            let rank_value: usize = number.parse().map_err(|_| {
                SyntaxError::at(
                    rank.position,
                    format!("{number} is no rank; it is a whole number or null"),
                )
            })?;
            if rank_value != dimensions.len() {
                return Err(SyntaxError::at(
                    rank.position,
                    format!("rank {rank_value}, but {} dimensions follow", dimensions.len()),
                ));
            }
            Some(dimensions.iter().map(parse_dimension).collect::<Result<_, _>>()?)
        }
        _ => {
            return Err(SyntaxError::at(
                rank.position,
                format!("the rank is a whole number or null, not {}", rank.kind()),
            ));
        }
    };
    Ok(Type::Array(Array::dense(element, shape)))
}

fn parse_dimension(json: &Json) -> Result<Option<u64>, SyntaxError> {
    match &json.value {
        Value::Null => Ok(None),
        Value::Number(number) => number.parse().map(Some).map_err(|_| {
            SyntaxError::at(
                json.position,
                format!("{number} is no dimension; it is a whole number, or null where unknown"),
            )
        }),
        _ => Err(SyntaxError::at(
            json.position,
            format!("a dimension is a whole number or null, not {}", json.kind()),
        )),
    }
}

fn parse_dictionary(items: &[Json], notes: &mut Vec<String>) -> Result<Type, SyntaxError> {
    let mut fields: Vec<(String, Type)> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for item in items {
        let Some([key, ty]) = item.as_array() else {
            return Err(SyntaxError::at(
                item.position,
                "expected [key, record], one for each slot of the structure",
            ));
        };
        let name = string(key, "the key of a slot")?;
        if !seen.insert(name) {
            return Err(SyntaxError::at(
                key.position,
                format!("a second slot with the key `{name}`"),
            ));
        }
        fields.push((name.to_owned(), parse_record(ty, notes)?));
    }
    Ok(Type::Dictionary(fields))
}

fn string<'a>(json: &'a Json, what: &str) -> Result<&'a str, SyntaxError> {
    json.as_str().ok_or_else(|| {
        SyntaxError::at(json.position, format!("{what} is a string, not {}", json.kind()))
    })
}

/// Prints the JSON as importers wrote it, without spaces.
///
/// # Errors
/// A type that no record describes.
pub fn print(function: &Function) -> Result<Printed, Unrepresentable> {
    let mut notes = Vec::new();
    let (arguments, results) = each_slot(function, |slot, path| {
        let mut out = String::new();
        let name = slot.name.as_ref().filter(|_| slot.keyword);
        if let Some(name) = name {
            out.push_str("[\"named\",");
            write_string(&mut out, name);
            out.push(',');
        }
        write_record(&mut out, &slot.ty, &mut notes).map_err(|reason| reason.at(path))?;
        if name.is_some() {
            out.push(']');
        }
        Ok(out)
    })?;
    if function
        .arguments
        .iter()
        .chain(&function.results)
        .any(|slot| slot.name.is_some() && !slot.keyword)
    {
        note(&mut notes, "names of positional arguments and of results are lost");
    }
    let text = format!("{{\"a\":[{}],\"r\":[{}],\"v\":1}}", arguments.join(","), results.join(","));
    Ok(Printed { text, notes })
}

fn write_record(out: &mut String, ty: &Type, notes: &mut Vec<String>) -> Result<(), NoForm> {
    let unknown = |out: &mut String, notes: &mut Vec<String>| {
        note(notes, &format!("`{ty}` has no record and is written as unknown"));
        out.push_str("\"unknown\"");
    };
    match ty {
        Type::Null => out.push_str("null"),
        Type::Scalar(ScalarType::Index) => {
            note(notes, "`index` is written as i64, as which it travels");
            out.push_str("\"i64\"");
        }
        Type::Scalar(ScalarType::Opaque(_)) => unknown(out, notes),
        Type::Scalar(scalar) => write_string(out, &scalar.to_string()),
        Type::Array(array) => {
            out.push_str("[\"ndarray\",");
            write_record(out, &array.element, notes)?;
            match &array.shape {
                None => out.push_str(",null"),
                Some(shape) => {
                    out.push_str(&format!(",{}", shape.len()));
                    for dimension in shape {
                        match dimension {
                            Some(length) => out.push_str(&format!(",{length}")),
                            None => out.push_str(",null"),
                        }
                    }
                }
            }
            out.push(']');
            if array.layout != Layout::RowMajor || array.memory_space.is_some() {
                note(notes, "arrays are dense here: layout and memory space are lost");
            }
        }
        Type::String | Type::Bytes => {
            note(notes, "a string travels as a list of its bytes");
            out.push_str("[\"py_homogeneous_list\",\"i8\"]");
        }
        Type::Sequence(form, items) => {
            out.push_str(if *form == SequenceForm::List { "[\"slist\"" } else { "[\"stuple\"" });
            for item in items {
                out.push(',');
                write_record(out, item, notes)?;
            }
            out.push(']');
        }
        Type::List(item) => {
            out.push_str("[\"py_homogeneous_list\",");
            write_record(out, item, notes)?;
            out.push(']');
        }
        Type::Dictionary(fields) => {
            out.push_str("[\"sdict\"");
            for (key, ty) in fields {
                out.push_str(",[");
                write_string(out, key);
                out.push(',');
                write_record(out, ty, notes)?;
                out.push(']');
            }
            out.push(']');
        }
        Type::Map(key, value) => {
            note(notes, "`py_uniform_dict` is an old record without a form of today");
            out.push_str("[\"py_uniform_dict\",");
            write_record(out, key, notes)?;
            out.push(',');
            write_record(out, value, notes)?;
            out.push(']');
        }
        Type::Unknown => out.push_str("\"unknown\""),
        Type::Any | Type::Reference(_) | Type::Function(_) | Type::Optional(_) | Type::OneOf(_) => {
            unknown(out, notes);
        }
        Type::Vector(_) => return Err(NoForm::Record(ty.to_string())),
        Type::Variadic(_) => return Err(NoForm::Span { instead: "a list" }),
        Type::Position(_) => return Err(NoForm::PositionOnly),
    }
    Ok(())
}

/// The results of the VM function: the signature's results, or, if its only result is a structure,
/// the values in it.
#[must_use]
pub fn wire_results(function: &Function) -> Vec<&Type> {
    if let [Slot { ty, .. }] = function.results.as_slice() {
        match ty {
            Type::Sequence(_, items) => return items.iter().collect(),
            Type::Dictionary(fields) => return fields.iter().map(|(_, ty)| ty).collect(),
            _ => {}
        }
    }
    function.results.iter().map(|slot| &slot.ty).collect()
}
