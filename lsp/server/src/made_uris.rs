//! URIs of documents that the server makes: `iree-vmfb:/path/model.vmfb.vmasm`,
//! `iree-text:/path/big.mlir` and `iree-ir:/path/model.mlir/6.flow.mlir?KEY`.

use std::path::PathBuf;

use tower_lsp::lsp_types::Url;

/// The schemes of made documents.
pub(crate) const SCHEMES: [&str; 3] = ["iree-vmfb", "iree-text", "iree-ir"];

/// Whether a document is one that the server makes.
pub(crate) fn is_made(uri: &Url) -> bool {
    SCHEMES.contains(&uri.scheme())
}

/// The file that a made document shows.
pub(crate) fn file_of(uri: &Url) -> Option<PathBuf> {
    let mut file = Url::parse("file:///").ok()?;
    let path = uri.path();
    file.set_path(
        path.strip_suffix(".vmasm").filter(|path| path.ends_with(".vmfb")).unwrap_or(path),
    );
    file.to_file_path().ok()
}

/// The URI of the document that shows a module.
pub(crate) fn uri_of_module(path: &std::path::Path) -> Option<Url> {
    let file = Url::from_file_path(path).ok()?;
    Url::parse(&format!("iree-vmfb:{}.vmasm", file.path())).ok()
}

#[cfg(test)]
mod tests {
    use super::{file_of, uri_of_module};
    use tower_lsp::lsp_types::Url;

    #[test]
    fn names_of_made_documents() {
        let uri = uri_of_module(std::path::Path::new("/a b/x.vmfb")).unwrap();
        assert_eq!(uri.as_str(), "iree-vmfb:/a%20b/x.vmfb.vmasm");
        assert_eq!(file_of(&uri), Some("/a b/x.vmfb".into()));
        let text = Url::parse("iree-text:/a/big.mlir").unwrap();
        assert_eq!(file_of(&text), Some("/a/big.mlir".into()));
    }
}
