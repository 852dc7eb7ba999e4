//! How a function is called with nested values: as its most detailed signature says, and spread
//! over raw values where structured index paths say so.

use super::explain;
use crate::conventions::raw::RawSignature;
use crate::conventions::sip::{PathError, SipSignature, Spread};
use crate::conventions::{iree_abi, mlir};
use crate::signature::Function;
use crate::text::SyntaxError;

/// How a function is called with nested values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallForm {
    /// The function as it is called.
    pub function: Function,
    /// Where the values of the raw function are in it, if structured index paths say that.
    pub spread: Option<Spread>,
}

/// Why the attributes of a function describe no call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallFormError {
    /// An attribute cannot be read.
    #[error("the attribute `{name}` is malformed: {source}")]
    Malformed {
        /// The attribute.
        name: &'static str,
        /// Where, and why.
        source: SyntaxError,
    },
    /// The structure does not fit the raw values.
    #[error("the attributes `sip` and `f` do not agree: {0}")]
    Disagree(#[from] PathError),
}

/// A call without index paths.
impl From<Function> for CallForm {
    fn from(function: Function) -> Self {
        Self { function, spread: None }
    }
}

impl CallForm {
    /// The form by the most detailed signature, in the order of [`explain`].
    ///
    /// # Errors
    /// [`CallFormError`]: the module states raw values or index paths as its most detailed
    /// signature, and they are malformed or do not fit each other.
    pub fn of(cconv: Option<&str>, attributes: &[(&str, &str)]) -> Result<Self, CallFormError> {
        let function = explain(cconv, attributes).function;
        let attribute =
            |key: &str| attributes.iter().find(|(found, _)| *found == key).map(|(_, value)| *value);
        let json = attribute("iree.abi").map(iree_abi::parse);
        let declaration = attribute("iree.abi.declaration").map(mlir::function::parse);
        if json.is_some_and(|it| it.is_ok()) || declaration.is_some_and(|it| it.is_ok()) {
            return Ok(function.into());
        }
        let malformed = |name| move |source| CallFormError::Malformed { name, source };
        let raw = attribute("f").map(RawSignature::parse).transpose().map_err(malformed("f"))?;
        let (Some(raw), Some(paths)) = (raw, attribute("sip")) else {
            return Ok(function.into());
        };
        let paths = SipSignature::parse(paths.as_bytes()).map_err(malformed("sip"))?;
        let spread = Spread::new(&paths, &raw)?;
        Ok(Self { function, spread: Some(spread) })
    }
}
