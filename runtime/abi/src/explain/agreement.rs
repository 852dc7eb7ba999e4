//! Whether the signatures that a module states for one function describe the same function.
//!
//! Each is lowered to the values that travel. Two agree if they have as many, of the same kinds:
//! widths may differ, since compilers narrow floats and indices.

use crate::cconv::{Signature, ValueType};
use crate::conventions::cconv_layout;
use crate::conventions::convention::with_fences;
use crate::signature::Function;

/// What is wrong between the signatures, one sentence each. The calling convention is what really
/// travels, so the others are compared with it; without one, with the first of them.
pub(super) fn disagreements(
    cconv: Option<&Signature>,
    described: &[(&str, Function)],
    has_fences: bool,
) -> Vec<String> {
    // Index paths have the raw signature's values in another order.
    let described = described.iter().filter(|(name, _)| *name != "sip");
    let lowered = described.filter_map(|(name, function)| {
        // Raw signatures are older than fences.
        let has_fences = has_fences && name.starts_with("iree.abi");
        let wire = if has_fences { with_fences(function) } else { function.clone() };
        Some((*name, cconv_layout::lower(&wire).ok()?.0))
    });
    let stated = cconv.map(|it| ("cconv", it.clone()));
    let all: Vec<(&str, Signature)> = stated.into_iter().chain(lowered).collect();
    let Some((truth, others)) = all.split_first() else { return Vec::new() };
    others.iter().flat_map(|other| differences(truth, other)).collect()
}

fn differences(truth: &(&str, Signature), other: &(&str, Signature)) -> Vec<String> {
    let sides = [
        ("argument", &truth.1.arguments, &other.1.arguments),
        ("result", &truth.1.results, &other.1.results),
    ];
    let mut found = Vec::new();
    for (what, wanted, stated) in sides {
        if wanted.len() != stated.len() {
            let count = |count: usize| match count {
                1 => format!("1 {what}"),
                count => format!("{count} {what}s"),
            };
            found.push(format!(
                "{} has {}, {} has {}",
                other.0,
                count(stated.len()),
                truth.0,
                count(wanted.len())
            ));
            continue;
        }
        let pairs = stated.iter().zip(wanted).enumerate();
        let different = pairs.filter(|(_, (stated, wanted))| kind(stated) != kind(wanted));
        found.extend(different.map(|(index, (stated, wanted))| {
            format!("{what} {index} travels as {stated} by {}, as {wanted} by {}", other.0, truth.0)
        }));
    }
    found
}

/// What a value is, whatever its width.
fn kind(value: &ValueType) -> u8 {
    match value {
        ValueType::I32 | ValueType::I64 => b'i',
        ValueType::F32 | ValueType::F64 => b'f',
        ValueType::Ref => b'r',
        ValueType::Span(_) => b'C',
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::explain;

    #[test]
    fn contradictions_are_named() {
        let one = r#"{"a":["f32"],"r":["i64"]}"#;
        let declaration = "async func @f(%x: f32) -> i64";
        let fences = ("iree.abi.model", "coarse-fences");
        for (cconv, attributes, expected) in [
            (Some("0f_I"), vec![("iree.abi", one)], ""),
            // Narrower than stated: compilers do that.
            (Some("0f_i"), vec![("iree.abi", one)], ""),
            (
                Some("0i_I"),
                vec![("iree.abi", one)],
                "argument 0 travels as f32 by iree.abi, as i32 by cconv",
            ),
            (
                Some("0ff_v"),
                vec![("iree.abi", one)],
                "iree.abi has 1 argument, cconv has 2 arguments; \
                 iree.abi has 1 result, cconv has 0 results",
            ),
            (Some("0frr_I"), vec![("iree.abi.declaration", declaration), fences], ""),
            (
                Some("0f_I"),
                vec![("iree.abi.declaration", declaration), fences],
                "iree.abi.declaration has 3 arguments, cconv has 1 argument",
            ),
            (
                None,
                vec![("iree.abi", one), ("f", "I6!S3!t6R6!S3!t6")],
                "argument 0 travels as i32 by f, as f32 by iree.abi",
            ),
            (Some("0i_v"), vec![("f", "I6!S3!t6R1!"), ("sip", "I3!_0R1!")], ""),
            (Some("0x_v"), vec![], ""),
        ] {
            let found = explain(cconv, &attributes).disagreements;
            assert_eq!(found.join("; "), expected, "{cconv:?} {attributes:?}");
        }
    }
}
