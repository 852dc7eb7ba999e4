//! The types of tensors in sources that PyTorch's dialect is written in.

/// The types of PyTorch in a text, as the compiler writes them: `1x?xf32`. `None` if one of them
/// cannot be read.
pub(super) fn torch_types(text: &str) -> Option<Vec<String>> {
    let types = text.split("!torch.vtensor<[").skip(1).map(|rest| {
        let (sizes, element) = rest.split_once("],")?;
        let element = element.split_once('>')?.0.trim_start_matches(['s', 'u']);
        let sizes: String =
            sizes.split(',').filter(|it| !it.is_empty()).map(|it| format!("{it}x")).collect();
        Some(sizes + element)
    });
    types.collect()
}
