//! How a source is written that was imported from ONNX: `torch.operator "onnx.Reshape"(%0, %1) : …`,
//! with types of PyTorch.

/// The operations that give the elements of their first operand another shape, and keep their
/// number and their order.
pub(crate) const RESHAPES: [&str; 4] = ["Flatten", "Reshape", "Squeeze", "Unsqueeze"];

/// The kind in the head of an operation, and what follows it: `Reshape` of `"onnx.Reshape"(%0)`.
pub(crate) fn kind(head: &str) -> Option<(&str, &str)> {
    head.trim_start().strip_prefix("\"onnx.")?.split_once('"')
}

/// The types of PyTorch in a text, as the compiler writes them: `1x?xf32`. `None` if one of them
/// cannot be read.
pub(crate) fn types(text: &str) -> Option<Vec<String>> {
    let types = text.split("!torch.vtensor<[").skip(1).map(|rest| {
        let (sizes, element) = rest.split_once("],")?;
        let element = element.split_once('>')?.0.trim_start_matches(['s', 'u']);
        let sizes: String =
            sizes.split(',').filter(|it| !it.is_empty()).map(|it| format!("{it}x")).collect();
        Some(sizes + element)
    });
    types.collect()
}
