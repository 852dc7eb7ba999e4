//! Keys of compilations, and the URIs of stages:
//! `iree-ir:/path/of/model.mlir/6.flow.mlir?KEY` and, for one function after a pass,
//! `iree-ir:/path/of/model.mlir/f/12.CSEPass.mlir?KEY.PASSES`. A document that follows its source
//! keeps its URI from one compilation to the next, and names a stage instead of a key:
//! `iree-ir:/path/of/model.mlir/flow @f.mlir?live.flow@f`.

use std::hash::Hasher;
use std::path::Path;

use tower_lsp::lsp_types::Url;
use twox_hash::XxHash3_64;

const SCHEME: &str = "iree-ir";

/// Whether a document is a stage.
pub(crate) fn is_stage(uri: &Url) -> bool {
    uri.scheme() == SCHEME
}

/// What the URI of a stage names. The source's path in it is for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// The compilation.
    pub(crate) key: String,
    /// The passes of a function, if it is one of them.
    pub(crate) passes: Option<String>,
    /// The last part of the path: `6.flow.mlir`; of a document that follows its source, the name of
    /// its stage.
    pub(crate) title: String,
}

/// What comes before the name of a stage in the query of a document that follows its source.
const LIVE: &str = "live.";

/// The stage that a document shows which follows its source.
pub(crate) fn live_stage(uri: &Url) -> Option<String> {
    let named = uri.query().filter(|_| is_stage(uri))?.strip_prefix(LIVE)?;
    let named = percent_encoding::percent_decode_str(named).decode_utf8().ok()?;
    // What the client adds about the document follows.
    let stage = named.split('@').next().filter(|stage| !stage.is_empty())?;
    Some(stage.to_owned())
}

impl Named {
    /// Whether a text may be the key of a compilation. It becomes a part of a path.
    pub(crate) fn is_key(text: &str) -> bool {
        text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// A stage of a compilation, by its name.
    pub(crate) fn of_live(stage: String, key: &str) -> Option<Self> {
        Some(Self { key: Self::is_key(key).then(|| key.to_owned())?, passes: None, title: stage })
    }
}

impl Named {
    pub(crate) fn read(uri: &Url) -> Option<Self> {
        let query = uri.query().filter(|_| is_stage(uri))?;
        let (key, passes) = match query.split_once('.') {
            Some((key, passes)) => (key, Some(passes)),
            None => (query, None),
        };
        if !Self::is_key(key) || !passes.is_none_or(Self::is_key) {
            return None;
        }
        let path = crate::made_uris::file_of(uri)?;
        let title = path.file_name()?.to_str()?.to_owned();
        Some(Self { key: key.to_owned(), passes: passes.map(str::to_owned), title })
    }
}

/// The URI of a document of the compilation of `source`.
pub(super) fn uri(source: &Path, parts: &[&str], query: &str) -> Option<Url> {
    let mut path = source.to_owned();
    // A part is one name, whatever it holds.
    path.extend(parts.iter().map(|part| part.replace(['/', '\\'], "_")));
    let file = Url::from_file_path(path).ok()?;
    let mut uri = Url::parse(&format!("{SCHEME}:{}", file.path())).ok()?;
    uri.set_query(Some(query));
    Some(uri)
}

/// Makes keys: 128 bits of two hashes.
pub(crate) struct Digest(XxHash3_64, XxHash3_64);

impl Digest {
    pub(crate) fn new() -> Self {
        Self(XxHash3_64::with_seed(0), XxHash3_64::with_seed(0x9E37_79B9_7F4A_7C15))
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
        self.1.write(bytes);
    }

    /// Adds a text and its length, so that neighbours cannot be confused.
    pub(crate) fn add_part(&mut self, text: &str) {
        self.add(&(text.len() as u64).to_le_bytes());
        self.add(text.as_bytes());
    }

    pub(crate) fn key(&self) -> String {
        format!("{:016x}{:016x}", self.0.finish(), self.1.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::{Digest, Named, live_stage, uri};
    use std::path::Path;
    use tower_lsp::lsp_types::Url;

    #[test]
    fn names_of_stages() {
        let mut digest = Digest::new();
        digest.add_part("text");
        let key = digest.key();
        let made = uri(Path::new("/a b/x.mlir"), &["f/g", "6.flow.mlir"], &key).unwrap();
        assert_eq!(made.path(), "/a%20b/x.mlir/f_g/6.flow.mlir");
        let named = Named::read(&made).unwrap();
        assert_eq!((named.key, named.title.as_str(), named.passes), (key, "6.flow.mlir", None));
        let live = Url::parse("iree-ir:/a/x.mlir/flow%20%40f.mlir?live.flow%40f").unwrap();
        assert_eq!(live_stage(&live).as_deref(), Some("flow"));
        assert_eq!((Named::read(&live), live_stage(&made)), (None, None));
        for other in ["iree-ir:/a/6.flow.mlir", "iree-ir:/a/b?../../etc", "file:///a?0"] {
            assert_eq!(Named::read(&Url::parse(other).unwrap()), None, "{other}");
        }
    }
}
