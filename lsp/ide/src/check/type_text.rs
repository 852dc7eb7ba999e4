//! Types as they are written: where they differ for sure.

use crate::operations::{element, is_type};

/// True only if two written types certainly differ; an alias or a dialect's own syntax makes it
/// false.
pub(super) fn differ(left: &str, right: &str) -> bool {
    let (left, right) = (plain(left), plain(right));
    if left == right || is_unsure(&left) || is_unsure(&right) {
        return false;
    }
    match (Shaped::of(&left), Shaped::of(&right)) {
        (Some(left), Some(right)) => {
            left.kind != right.kind
                || left.dimensions != right.dimensions
                || differ(left.element, right.element)
        }
        (None, None) if left.starts_with('!') && right.starts_with('!') => {
            let (left, right) = (name(&left), name(&right));
            left != right
        }
        _ => true,
    }
}

/// A type without white space.
fn plain(ty: &str) -> String {
    ty.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The name of a dialect's type, without its parameters.
fn name(ty: &str) -> &str {
    &ty[..ty.find('<').unwrap_or(ty.len())]
}

/// Whether a type is an alias, a function, or built of something that is not read here.
fn is_unsure(ty: &str) -> bool {
    let alias = |text: &str| {
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "_.$".contains(c)));
        !text[..end.unwrap_or(text.len())].contains('.')
    };
    ty.is_empty()
        || ty.starts_with('(')
        || ty.starts_with("tuple")
        || ty.starts_with("complex")
        || ty.split('!').skip(1).any(alias)
        || !ty.starts_with('!') && !is_type(word(ty))
}

fn word(ty: &str) -> &str {
    let end = ty.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    &ty[..end.unwrap_or(ty.len())]
}

/// A tensor, vector or memref.
struct Shaped<'a> {
    kind: &'a str,
    dimensions: &'a str,
    element: &'a str,
}

impl<'a> Shaped<'a> {
    fn of(ty: &'a str) -> Option<Self> {
        let element = element(ty)?;
        let kind = word(ty);
        let start = element.as_ptr() as usize - ty.as_ptr() as usize;
        Some(Self { kind, dimensions: ty.get(kind.len()..start)?, element })
    }
}

#[cfg(test)]
mod tests {
    use super::differ;

    #[test]
    fn sure_differences() {
        for (left, right) in [
            ("i32", "f32"),
            ("index", "tensor<4xindex>"),
            ("tensor<4xf32>", "tensor<4xi32, #e>"),
            ("tensor<4xf32>", "vector<4xf32>"),
            ("tensor<4x?xf32>", "tensor<4x5xf32>"),
            ("memref<4xf32, strided<[1]>>", "memref<5xf32>"),
            ("!vm.buffer", "!vm.ref<!hal.buffer>"),
            ("!hal.buffer", "i32"),
        ] {
            assert!(differ(left, right) && differ(right, left), "{left} {right}");
        }
        for (left, right) in [
            ("i32", "i32"),
            ("tensor< 4xf32 >", "tensor<4xf32>"),
            ("tensor<4xf32, #a>", "tensor<4xf32, #b>"),
            ("!alias", "i32"),
            ("tensor<4x!alias>", "tensor<4xf32>"),
            ("!vm.ref<?>", "!vm.ref<!hal.buffer>"),
            ("() -> i32", "i32"),
        ] {
            assert!(!differ(left, right) && !differ(right, left), "{left} {right}");
        }
    }
}
