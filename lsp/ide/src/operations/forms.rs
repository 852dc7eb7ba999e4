//! Forms of common operations, with places to fill in, for completion.

use super::installed::InstalledOperation;
use super::types::{Stated, TypeRule, type_rules};

/// Operations whose form follows no rule of types. `$0` is where the cursor ends.
const FORMS: &[(&str, &str)] = &[
    ("affine.apply", "affine.apply ${1:#map}(${2:%i})"),
    ("arith.cmpf", "arith.cmpf ${1|oeq,one,olt,ole,ogt,oge|}, ${2:%a}, ${3:%b} : ${4:f32}"),
    ("arith.cmpi", "arith.cmpi ${1|eq,ne,slt,sle,sgt,sge,ult,ule|}, ${2:%a}, ${3:%b} : ${4:i32}"),
    ("arith.constant", "arith.constant ${1:0} : ${2:index}"),
    ("arith.select", "arith.select ${1:%condition}, ${2:%a}, ${3:%b} : ${4:f32}"),
    ("cf.br", "cf.br ^${1:bb1}"),
    ("cf.cond_br", "cf.cond_br ${1:%condition}, ^${2:bb1}, ^${3:bb2}"),
    ("flow.return", "flow.return ${1:%a} : ${2:type}"),
    ("func.call", "func.call @${1:f}(${2:%a}) : (${3:type}) -> ${4:type}"),
    ("func.func", "func.func @${1:f}(${2:%a: type}) -> ${3:type} {\n  $0\n}"),
    ("func.return", "func.return ${1:%a} : ${2:type}"),
    (
        "linalg.fill",
        "linalg.fill ins(${1:%value} : ${2:f32}) outs(${3:%out} : ${4:type}) -> ${4:type}",
    ),
    (
        "linalg.generic",
        "linalg.generic {\n  indexing_maps = [${1:#map}, ${2:#map}],\n  \
         iterator_types = [\"${3:parallel}\"]\n} ins(${4:%a} : ${5:type}) \
         outs(${6:%out} : ${7:type}) {\n^bb0(%in: ${8:f32}, %old: ${8:f32}):\n  \
         linalg.yield ${0:%in} : ${8:f32}\n} -> ${7:type}",
    ),
    (
        "linalg.matmul",
        "linalg.matmul ins(${1:%a}, ${2:%b} : ${3:type}, ${4:type}) \
         outs(${5:%out} : ${6:type}) -> ${6:type}",
    ),
    ("linalg.yield", "linalg.yield ${1:%a} : ${2:f32}"),
    ("memref.load", "memref.load ${1:%memory}[${2:%i}] : ${3:memref<4xf32>}"),
    ("memref.store", "memref.store ${1:%value}, ${2:%memory}[${3:%i}] : ${4:memref<4xf32>}"),
    ("scf.for", "scf.for ${1:%i} = ${2:%from} to ${3:%to} step ${4:%step} {\n  $0\n}"),
    ("scf.if", "scf.if ${1:%condition} {\n  $0\n}"),
    ("scf.yield", "scf.yield ${1:%a} : ${2:type}"),
    ("tensor.dim", "tensor.dim ${1:%tensor}, ${2:%c0} : ${3:type}"),
    ("tensor.empty", "tensor.empty(${1}) : ${2:tensor<4xf32>}"),
    ("tensor.extract", "tensor.extract ${1:%tensor}[${2:%i}] : ${3:tensor<4xf32>}"),
    ("tensor.insert", "tensor.insert ${1:%value} into ${2:%tensor}[${3:%i}] : ${4:tensor<4xf32>}"),
    ("util.call", "util.call @${1:f}(${2:%a}) : (${3:type}) -> ${4:type}"),
    ("util.func", "util.func public @${1:f}(${2:%a: type}) -> ${3:type} {\n  $0\n}"),
    ("util.global", "util.global private @${1:name} = ${2:0} : ${3:i32}"),
    ("util.global.load", "util.global.load @${1:name} : ${2:type}"),
    ("util.global.store", "util.global.store ${1:%value}, @${2:name} : ${3:type}"),
    ("util.return", "util.return ${1:%a} : ${2:type}"),
];

/// The form of an operation with places to fill in, if it is known.
pub(crate) fn form(op: &str, installed: Option<&InstalledOperation>) -> Option<String> {
    if let Ok(at) = FORMS.binary_search_by_key(&op, |(name, _)| name) {
        return Some(FORMS[at].1.to_owned());
    }
    let is_plain = op.starts_with("arith.") || op.starts_with("math.");
    let rules = type_rules(op);
    let names: Vec<&str> = match (installed, mlir::meaning(op)) {
        (Some(known), _) => known.operands.iter().map(|part| part.name.as_str()).collect(),
        (None, Some(mlir::Meaning::Numbers(numbers))) => {
            ["a", "b", "c"].into_iter().take(numbers.operands()).collect()
        }
        (None, _) => return None,
    };
    if !is_plain || names.is_empty() {
        return None;
    }
    let operands: Vec<String> =
        names.iter().enumerate().map(|(at, name)| format!("${{{}:%{name}}}", at + 1)).collect();
    let next = names.len() + 1;
    let operands = operands.join(", ");
    match rules.first()? {
        TypeRule::All(Stated::Type(0)) => Some(format!("{op} {operands} : ${{{next}:type}}")),
        TypeRule::Operand(0, Stated::Type(0)) => {
            Some(format!("{op} {operands} : ${{{next}:type}} to ${{{}:type}}", next + 1))
        }
        _ => None,
    }
}

/// The code in a documentation: what stands between two lines of three backticks.
pub(crate) fn examples(documentation: &str) -> impl Iterator<Item = String> + '_ {
    documentation.split("```").skip(1).step_by(2).map(|block| {
        let (language, code) = block.split_once('\n').unwrap_or_default();
        let is_mlir = matches!(language.trim(), "" | "mlir");
        if is_mlir { code.to_owned() } else { String::new() }
    })
}

#[cfg(test)]
mod tests {
    use super::{FORMS, form};
    use crate::operations::{Standing, standing};

    #[test]
    fn forms_are_of_operations() {
        assert!(FORMS.is_sorted_by_key(|(name, _)| *name));
        for (name, form) in FORMS {
            assert!(form.starts_with(name) && standing(name) == Standing::Fine, "{name}");
        }
        let plain = "arith.addi ${1:%a}, ${2:%b} : ${3:type}";
        assert_eq!(form("arith.addi", None).as_deref(), Some(plain));
        assert_eq!(form("mine.addi", None), None);
    }
}
