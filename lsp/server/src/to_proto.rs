//! From [`ide`]'s types to LSP's.

use ide::{Hover, OpClass, Outline, OutlineItem};
use ropey::Rope;
use tower_lsp::lsp_types as lsp;

use crate::positions::{Encoding, to_range};

/// A hover.
pub(crate) fn hover(rope: &Rope, hover: &Hover, encoding: Encoding) -> lsp::Hover {
    let contents = lsp::MarkupContent {
        kind: lsp::MarkupKind::Markdown,
        // Editors in terminals draw it as it comes.
        value: abi::shown(&hover.markdown).into_owned(),
    };
    lsp::Hover {
        contents: lsp::HoverContents::Markup(contents),
        range: Some(to_range(rope, &hover.range, encoding)),
    }
}

/// An outline as a tree.
pub(crate) fn document_symbols(
    rope: &Rope,
    outline: &Outline,
    encoding: Encoding,
) -> Vec<lsp::DocumentSymbol> {
    let mut symbols: Vec<_> =
        outline.items.iter().map(|item| document_symbol(rope, item, encoding)).collect();
    if outline.left_out > 0 {
        // The protocol cannot say that there are more.
        let end = rope.len_bytes();
        let more = OutlineItem {
            name: format!("… {} more symbols", outline.left_out),
            detail: String::new(),
            class: OpClass::Other,
            range: end..end,
            selection: end..end,
            children: Vec::new(),
        };
        symbols.push(document_symbol(rope, &more, encoding));
    }
    symbols
}

fn document_symbol(rope: &Rope, item: &OutlineItem, encoding: Encoding) -> lsp::DocumentSymbol {
    let children =
        item.children.iter().map(|child| document_symbol(rope, child, encoding)).collect();
    #[allow(deprecated)] // the field `deprecated` cannot be left out
    lsp::DocumentSymbol {
        // Clients refuse a whole outline because of one empty name.
        name: if item.name.is_empty() { "(unnamed)".into() } else { item.name.clone() },
        detail: (!item.detail.is_empty()).then(|| item.detail.clone()),
        kind: symbol_kind(item.class),
        tags: None,
        deprecated: None,
        range: to_range(rope, &item.range, encoding),
        selection_range: to_range(rope, &item.selection, encoding),
        children: Some(children),
    }
}

/// The same outline, for clients that only know lists.
pub(crate) fn symbol_informations(
    uri: &lsp::Url,
    symbols: &[lsp::DocumentSymbol],
    container: Option<&str>,
) -> Vec<lsp::SymbolInformation> {
    let mut flat = Vec::new();
    for symbol in symbols {
        #[allow(deprecated)]
        flat.push(lsp::SymbolInformation {
            name: symbol.name.clone(),
            kind: symbol.kind,
            tags: None,
            deprecated: None,
            location: lsp::Location { uri: uri.clone(), range: symbol.range },
            container_name: container.map(str::to_owned),
        });
        let children = symbol.children.as_deref().unwrap_or_default();
        flat.extend(symbol_informations(uri, children, Some(&symbol.name)));
    }
    flat
}

/// The kind of an operation, which decides its icon.
pub(crate) fn symbol_kind(class: OpClass) -> lsp::SymbolKind {
    match class {
        OpClass::Module => lsp::SymbolKind::MODULE,
        OpClass::Executable => lsp::SymbolKind::PACKAGE,
        OpClass::Function => lsp::SymbolKind::FUNCTION,
        OpClass::Import => lsp::SymbolKind::INTERFACE,
        OpClass::Export => lsp::SymbolKind::METHOD,
        OpClass::Global => lsp::SymbolKind::VARIABLE,
        OpClass::Rodata => lsp::SymbolKind::CONSTANT,
        OpClass::Initializer => lsp::SymbolKind::CONSTRUCTOR,
        OpClass::Type => lsp::SymbolKind::CLASS,
        OpClass::Alias => lsp::SymbolKind::KEY,
        OpClass::Resources | OpClass::Other => lsp::SymbolKind::OBJECT,
    }
}

/// A definition. For clients that support links, with the range of the name that was asked about.
pub(crate) fn definition(
    uri: &lsp::Url,
    rope: &Rope,
    target: &ide::DefinitionTarget,
    encoding: Encoding,
    links: bool,
) -> lsp::GotoDefinitionResponse {
    let selection = to_range(rope, &target.selection, encoding);
    if !links {
        let location = lsp::Location { uri: uri.clone(), range: selection };
        return lsp::GotoDefinitionResponse::Scalar(location);
    }
    lsp::GotoDefinitionResponse::Link(vec![lsp::LocationLink {
        origin_selection_range: Some(to_range(rope, &target.origin, encoding)),
        target_uri: uri.clone(),
        target_range: to_range(rope, &target.range, encoding),
        target_selection_range: selection,
    }])
}
