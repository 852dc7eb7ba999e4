//! Which parameters a text of MLIR names, and as tensors of which type it reads them.

use abi::tensor::TensorType;

use super::reader::parameter;

/// A parameter, as a program declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredParameter {
    /// The name of the archive; empty if the program gives none.
    pub scope: String,
    /// Its name in the archive.
    pub key: String,
    /// What the program takes it for.
    pub tensor_type: TensorType,
}

/// The parameters that a text declares, `#flow.parameter.named<"scope"::"key"> : tensor<4xf32>`,
/// each once. One whose size is not known, or whose type has an encoding, is left out.
#[must_use]
pub fn declared_parameters(text: &str) -> Vec<DeclaredParameter> {
    let mut found: Vec<DeclaredParameter> = Vec::new();
    for (at, _) in text.match_indices("parameter.named<") {
        if let Some(declared) = declared(&text[at..])
            && !found.contains(&declared)
        {
            found.push(declared);
        }
    }
    found
}

/// The parameter that a text begins with.
fn declared(text: &str) -> Option<DeclaredParameter> {
    let line = text.lines().next()?;
    let (scope, key) = parameter(line)?;
    let pieces: Vec<&str> = line.splitn(6, '"').collect();
    let after = pieces.get(if *pieces.get(2)? == "::" { 4 } else { 2 })?;
    let shaped = after.split_once("> : tensor<")?.1.split_once('>')?.0;
    let tensor_type = TensorType::parse(&shaped.replace("complex<f", "cf")).ok()?;
    Some(DeclaredParameter { scope, key, tensor_type })
}

#[cfg(test)]
mod tests {
    use super::declared_parameters;

    #[test]
    fn names_and_types_are_read() {
        let text = r#"
            util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<4xf32>
            %0 = flow.tensor.constant #flow.parameter.named<"b c"> : tensor<2x3xbf16> loc(#loc)
            util.global @again = #flow.parameter.named<"model"::"w"> : tensor<4xf32> loc("a"::"b")
            util.global @any = #flow.parameter.named<"model"::"any"> : tensor<?xf32>
            util.global @packed = #flow.parameter.named<"m"::"p"> : tensor<4xf32, #enc>
            #alias = #flow.parameter.named<"m"::"scalar"> : tensor<f64>
            #none = #flow.parameter.named<"m"::"none">
            #cut = #flow.parameter.named<"#;
        let found = declared_parameters(text).into_iter().map(|it| {
            let colon = if it.scope.is_empty() { "" } else { ":" };
            format!("{}{colon}{} {}", it.scope, it.key, it.tensor_type)
        });
        let found: Vec<String> = found.collect();
        assert_eq!(found, ["model:w 4xf32", "b c 2x3xbf16", "m:scalar f64"]);
    }
}
