//! A compiled function under every convention that applies: the signatures that the module states,
//! and those that follow from them.
//!
//! Tools, hovers and the debugger show these rows, each in its own way. Derived rows are based on
//! the most detailed signature: `iree.abi`, else the declaration, else raw with its index paths,
//! else the calling convention alone.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `agreement` | what the stated signatures of a function contradict each other in |
//! | `call_form` | [`CallForm`]: a call with nested values |
//! | `usage` | [`usage()`]: how to call it, from a shell, from Python and from C |

mod agreement;
mod call_form;
mod usage;

use crate::cconv::Signature;
use crate::conventions::cconv_layout;
use crate::conventions::convention::Convention;
use crate::conventions::iree_abi;
use crate::conventions::mlir;
use crate::conventions::raw::{self, RawSignature};
use crate::conventions::sip::{self, SipSignature, Spread};
use crate::signature::Function;
use crate::text::SyntaxError;

pub use call_form::{CallForm, CallFormError};
pub use usage::{NoCall, Usage, usage};

/// The origin of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrigin {
    /// The module states it.
    Stated,
    /// The module states it, but the text is malformed.
    Malformed,
    /// It follows from another signature of the module.
    Derived,
    /// The convention cannot describe this function; the text says why.
    Impossible,
}

impl RowOrigin {
    /// One word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Malformed => "malformed",
            Self::Derived => "derived",
            Self::Impossible => "impossible",
        }
    }
}

/// A function under one convention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The convention, and which of its forms: `iree.abi`, `C interface`.
    pub name: &'static str,
    /// Its origin.
    pub origin: RowOrigin,
    /// The text of the signature, or the problem with it.
    pub text: String,
    /// The signature for people, if the text is hard to read.
    pub meaning: Option<String>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
}

/// A function under all conventions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The most detailed signature.
    pub function: Function,
    /// Whether the function takes a wait fence and a signal fence after its arguments.
    pub has_fences: bool,
    /// A row for each convention.
    pub rows: Vec<Row>,
    /// Where the stated signatures contradict each other, one sentence each.
    pub disagreements: Vec<String>,
}

/// Explains a function by its calling convention and its reflection attributes.
#[must_use]
pub fn explain(cconv: Option<&str>, attributes: &[(&str, &str)]) -> Explanation {
    let attribute =
        |key: &str| attributes.iter().find(|(found, _)| *found == key).map(|(_, value)| *value);
    let mut rows = Vec::new();
    let signature = cconv.and_then(|text| stated_cconv(text, &mut rows));
    let json = attribute("iree.abi").and_then(|text| stated_json(text, &mut rows));
    let declaration =
        attribute("iree.abi.declaration").and_then(|text| stated_declaration(text, &mut rows));
    let has_fences = attribute("iree.abi.model") == Some("coarse-fences");
    if let Some(model) = attribute("iree.abi.model") {
        let mut row = row("iree.abi.model", RowOrigin::Stated, model);
        if has_fences {
            row.notes.push("a wait fence and a signal fence follow the arguments".to_owned());
        }
        rows.push(row);
    }
    let raw = attribute("f").and_then(|text| stated_raw(text, attribute("fv"), &mut rows));
    let structured = attribute("sip").and_then(|text| stated_sip(text, raw.as_ref(), &mut rows));
    if let Some(name) = attribute("fbr") {
        let mut row = row("fbr", RowOrigin::Stated, name);
        row.notes.push("allocates results whose shape is not known before the call".to_owned());
        rows.push(row);
    }
    let paths = attribute("sip").and_then(|text| SipSignature::parse(text.as_bytes()).ok());
    let spread = raw.as_ref().zip(paths).map(|(raw, paths)| Spread::new(&paths, raw));
    let raw = raw.map(|raw| raw.to_function());
    let described: Vec<(&str, Function)> = [
        ("iree.abi", json),
        ("iree.abi.declaration", declaration),
        ("sip", structured),
        ("f", raw),
    ]
    .into_iter()
    .filter_map(|(name, function)| Some((name, function?)))
    .collect();
    let mut disagreements = agreement::disagreements(signature.as_ref(), &described, has_fences);
    disagreements.extend(spread.and_then(Result::err).map(|error| format!("sip and f: {error}")));
    let best = described.into_iter().next().map(|(_, function)| function);
    let function =
        best.or_else(|| signature.as_ref().map(cconv_layout::to_function)).unwrap_or_default();
    if signature.is_some() || !rows.is_empty() {
        let has = |key: &str| attribute(key).is_some();
        let stated = [
            (Convention::Cconv, cconv.is_some()),
            (Convention::Iree, has("iree.abi")),
            (Convention::Raw, has("f")),
            (Convention::Sip, has("sip")),
        ];
        let stated = stated.into_iter().filter(|(_, is_stated)| *is_stated).map(|(it, _)| it);
        derive(&function, &stated.collect::<Vec<_>>(), has_fences, &mut rows);
    }
    Explanation { function, has_fences, rows, disagreements }
}

/// Explains a signature that is no module's: one text of a convention; for index paths with the raw
/// signature beneath them.
///
/// # Errors
/// At the byte where the text is wrong.
pub fn explain_text(
    convention: Convention,
    text: &str,
    raw: Option<&str>,
) -> Result<Explanation, SyntaxError> {
    let parsed = convention.parse_call(text)?;
    let attributes: Vec<(&str, &str)> = match convention {
        Convention::Cconv => return Ok(explain(Some(text), &[])),
        Convention::Iree if crate::conventions::convention::is_declaration(text) => {
            let model = parsed.has_fences.then_some(("iree.abi.model", "coarse-fences"));
            [Some(("iree.abi.declaration", text)), model].into_iter().flatten().collect()
        }
        Convention::Iree => vec![("iree.abi", text)],
        Convention::Raw => vec![("f", text)],
        Convention::Sip => {
            let raw = raw.map(|raw| ("f", raw));
            std::iter::once(("sip", text)).chain(raw).collect()
        }
        Convention::Tvm | Convention::Memref => {
            let mut rows = vec![row(convention.name(), RowOrigin::Stated, text)];
            derive(&parsed.function, &[convention], false, &mut rows);
            let (has_fences, disagreements) = (false, Vec::new());
            return Ok(Explanation { function: parsed.function, has_fences, rows, disagreements });
        }
    };
    Ok(explain(None, &attributes))
}

/// One value of the calling convention, with its name and type in the signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name in the signature, else a name made from its position.
    pub name: String,
    /// Its type for people: `tensor<4xf32>`; empty if nothing is known.
    pub type_name: String,
}

/// The names of a function's arguments for a debugger, one for each value of its calling
/// convention.
#[must_use]
pub fn argument_names(cconv: Option<&str>, attributes: &[(&str, &str)]) -> Vec<Named> {
    let found = explain(cconv, attributes);
    let count = cconv
        .and_then(|text| cconv_layout::parse_any_age(text).ok())
        .map_or(found.function.arguments.len(), |(signature, _)| signature.arguments.len());
    // The signature with the most detailed types may lack names.
    let declared = attributes.iter().find(|(key, _)| *key == "iree.abi.declaration");
    let declared = declared.and_then(|(_, text)| mlir::function::parse(text).ok());
    let declared = declared.map(|declaration| declaration.function.arguments).unwrap_or_default();
    (0..count)
        .map(|index| {
            let slot = found.function.arguments.get(index);
            let name = slot.and_then(|slot| slot.name.clone());
            let name = name.or_else(|| declared.get(index)?.name.clone());
            if let (true, Some(fence)) = (found.has_fences, (index + 2).checked_sub(count))
                && slot.is_none()
            {
                let name = ["wait_fence", "signal_fence"][fence.min(1)].to_owned();
                return Named { name, type_name: "!hal.fence".to_owned() };
            }
            Named {
                name: name.unwrap_or_else(|| format!("arg{index}")),
                type_name: slot.map(|slot| slot.ty.to_string()).unwrap_or_default(),
            }
        })
        .collect()
}

/// For each argument, the result that is left in its memory. None: the module does not say which
/// arguments are written.
#[must_use]
pub fn outputs(attributes: &[(&str, &str)]) -> Option<Vec<Option<usize>>> {
    let declared = attributes.iter().find(|(key, _)| *key == "iree.abi.declaration");
    Some(mlir::function::parse(declared?.1).ok()?.outputs)
}

fn row(name: &'static str, origin: RowOrigin, text: impl Into<String>) -> Row {
    Row { name, origin, text: text.into(), meaning: None, notes: Vec::new() }
}

fn malformed(name: &'static str, text: &str, error: &dyn std::fmt::Display) -> Row {
    Row { meaning: Some(error.to_string()), ..row(name, RowOrigin::Malformed, text) }
}

fn stated_cconv(text: &str, rows: &mut Vec<Row>) -> Option<Signature> {
    match cconv_layout::parse_any_age(text) {
        Ok((signature, is_old)) => {
            let mut found = row("cconv", RowOrigin::Stated, text);
            found.meaning = Some(signature.to_string());
            if is_old {
                found.notes.push("spelled as until February 2021".to_owned());
            }
            rows.push(found);
            Some(signature)
        }
        Err(error) => {
            rows.push(malformed("cconv", text, &error));
            None
        }
    }
}

fn stated_json(text: &str, rows: &mut Vec<Row>) -> Option<Function> {
    match iree_abi::parse(text) {
        Ok(parsed) => {
            let mut found = row("iree.abi", RowOrigin::Stated, text);
            found.meaning = Some(parsed.function.to_string());
            found.notes = parsed.notes;
            rows.push(found);
            Some(parsed.function)
        }
        Err(error) => {
            rows.push(malformed("iree.abi", text, &error));
            None
        }
    }
}

/// A declaration is for people and may be any text; it is only used if it parses as a signature.
fn stated_declaration(text: &str, rows: &mut Vec<Row>) -> Option<Function> {
    rows.push(row("iree.abi.declaration", RowOrigin::Stated, text));
    mlir::function::parse(text).ok().map(|declaration| declaration.function)
}

fn stated_raw(text: &str, version: Option<&str>, rows: &mut Vec<Row>) -> Option<RawSignature> {
    match RawSignature::parse(text) {
        Ok(signature) => {
            let mut found = row("raw (f)", RowOrigin::Stated, text);
            found.meaning = Some(signature.to_string());
            if let Some(version) = version.filter(|version| *version != raw::VERSION) {
                found.notes.push(format!(
                    "Unsupported raw function ABI version {version}; known is {}",
                    raw::VERSION
                ));
            }
            rows.push(found);
            Some(signature)
        }
        Err(error) => {
            rows.push(malformed("raw (f)", text, &error));
            None
        }
    }
}

fn stated_sip(text: &str, raw: Option<&RawSignature>, rows: &mut Vec<Row>) -> Option<Function> {
    let parsed =
        SipSignature::parse(text.as_bytes()).map_err(|error| malformed("sip", text, &error));
    let read = |signature: SipSignature| {
        signature.to_function(raw).map_err(|error| malformed("sip", text, &error))
    };
    match parsed.and_then(read) {
        Ok(function) => {
            let mut found = row("sip", RowOrigin::Stated, text);
            found.meaning = Some(function.to_string());
            rows.push(found);
            Some(function)
        }
        Err(row) => {
            rows.push(row);
            None
        }
    }
}

/// Adds the rows of the conventions that are not stated.
fn derive(function: &Function, stated: &[Convention], has_fences: bool, rows: &mut Vec<Row>) {
    let flat = sip::flatten(function);
    let forms: [(&'static str, Convention, &Function); 5] = [
        ("cconv", Convention::Cconv, function),
        ("iree.abi", Convention::Iree, function),
        ("raw (f)", Convention::Raw, &flat),
        ("sip", Convention::Sip, function),
        ("tvm", Convention::Tvm, function),
    ];
    for (name, convention, function) in forms {
        if stated.contains(&convention) {
            continue;
        }
        let has_fences = has_fences && convention == Convention::Cconv;
        rows.push(match convention.print_call(function, has_fences) {
            Ok(printed) => {
                let mut found = row(name, RowOrigin::Derived, printed.text);
                found.notes = printed.notes;
                if convention == Convention::Tvm
                    && let Ok(schema) = crate::conventions::tvm::schema::Schema::parse(&found.text)
                {
                    found.meaning = Some(schema.to_string());
                }
                found
            }
            Err(error) => row(name, RowOrigin::Impossible, error.to_string()),
        });
    }
    derive_memref(&flat, !stated.contains(&Convention::Memref), rows);
}

fn derive_memref(function: &Function, with_type: bool, rows: &mut Vec<Row>) {
    if with_type {
        rows.push(match Convention::Memref.print(function) {
            Ok(printed) => {
                Row { notes: printed.notes, ..row("memref", RowOrigin::Derived, printed.text) }
            }
            Err(error) => row("memref", RowOrigin::Impossible, error.to_string()),
        });
    }
    match mlir::lowering::lower(function) {
        Ok(lowered) => {
            rows.push(row("memref, expanded", RowOrigin::Derived, lowered.expanded.to_string()));
            rows.push(row(
                "memref, C interface",
                RowOrigin::Derived,
                lowered.c_interface.to_string(),
            ));
            rows.push(match lowered.bare_pointers {
                Ok(bare) => row("memref, bare pointers", RowOrigin::Derived, bare.to_string()),
                Err(error) => {
                    row("memref, bare pointers", RowOrigin::Impossible, error.to_string())
                }
            });
        }
        Err(error) => rows.push(row("memref, expanded", RowOrigin::Impossible, error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(explanation: &Explanation) -> Vec<(&'static str, RowOrigin)> {
        explanation.rows.iter().map(|row| (row.name, row.origin)).collect()
    }

    #[test]
    fn todays_export() {
        let declaration = "sync func @f(%x: tensor<4xf32>, %n: i32) -> (%output0: tensor<?xf32>)";
        let found = explain(Some("0ri_r"), &[("iree.abi.declaration", declaration)]);
        assert_eq!(
            found.function.to_string(),
            "(x: tensor<4xf32>, n: i32) -> (output0: tensor<?xf32>)"
        );
        assert_eq!(
            names(&found)[..2],
            [("cconv", RowOrigin::Stated), ("iree.abi.declaration", RowOrigin::Stated)]
        );
        let row = |name| found.rows.iter().find(|row| row.name == name).unwrap();
        assert_eq!(
            row("iree.abi").text,
            r#"{"a":[["ndarray","f32",1,4],"i32"],"r":[["ndarray","f32",1,null]],"v":1}"#
        );
        assert_eq!(row("raw (f)").text, "I11!B3!d4S3!t6R7!B4!d-1");
        assert_eq!(row("tvm").meaning.as_deref(), Some("(ffi.Tensor, int) -> ffi.Tensor"));
        assert_eq!(row("memref, C interface").text, "void (ptr, ptr, i32)");
    }

    #[test]
    fn names_of_arguments() {
        let declaration =
            ("iree.abi.declaration", "sync func @f(%x: tensor<4xf32>, %n: i32) -> ()");
        let json = ("iree.abi", r#"{"a":[["ndarray","f32",1,4],["named","k","i32"]],"r":[]}"#);
        let fences = ("iree.abi.model", "coarse-fences");
        for (cconv, attributes, expected) in [
            ("0ri_v", vec![declaration], "x: tensor<4xf32>, n: i32"),
            ("0ri_v", vec![json], "arg0: tensor<4xf32>, k: i32"),
            ("0ri_v", vec![json, declaration], "x: tensor<4xf32>, k: i32"),
            (
                "0rirr_v",
                vec![declaration, fences],
                "x: tensor<4xf32>, n: i32, wait_fence: !hal.fence, signal_fence: !hal.fence",
            ),
            ("0rI_v", vec![], "arg0: ref, arg1: i64"),
            ("0r[i].v", vec![], "arg0: ref, arg1: variadic<i32>"),
            ("0riI_v", vec![declaration], "x: tensor<4xf32>, n: i32, arg2: "),
            ("0r_v", vec![declaration], "x: tensor<4xf32>"),
            ("?", vec![], ""),
        ] {
            let found = argument_names(Some(cconv), &attributes);
            let found: Vec<String> =
                found.iter().map(|it| format!("{}: {}", it.name, it.type_name)).collect();
            assert_eq!(found.join(", "), expected, "{cconv} {attributes:?}");
        }
    }

    #[test]
    fn export_of_2021() {
        let found = explain(
            Some("0rrr.rr"),
            &[
                ("abi", "sip"),
                ("f", "I34!B9!t6d1d384B9!t6d1d384B9!t6d1d384R19!B7!d1d384B7!d1d384"),
                ("fv", "1"),
                (
                    "sip",
                    "I53!D49!K10!input_ids_1K11!input_mask_2K12!segment_ids_0R39!D35!K11!end_logits_0K13!start_logits_1",
                ),
            ],
        );
        assert_eq!(
            found.function.to_string(),
            "(input_ids=: tensor<1x384xsi32>, input_mask=: tensor<1x384xsi32>, segment_ids=: tensor<1x384xsi32>) -> \
             ({\"end_logits\": tensor<1x384xf32>, \"start_logits\": tensor<1x384xf32>})"
        );
    }

    #[test]
    fn wrong_texts_are_shown_as_such() {
        let found = explain(Some("0x_v"), &[("iree.abi", "{}"), ("f", "X"), ("sip", "I1!")]);
        let wrong = found.rows.iter().filter(|row| row.origin == RowOrigin::Malformed);
        assert_eq!(wrong.count(), 4);
        assert_eq!(explain(None, &[]).rows, []);
    }
}
