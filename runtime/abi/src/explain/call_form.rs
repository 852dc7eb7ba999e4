//! How a function is called with nested values: as its most detailed signature says, and spread
//! over raw values where structured index paths say so.

use super::explain;
use crate::conventions::raw::RawSignature;
use crate::conventions::sip::{SipSignature, Spread};
use crate::conventions::{iree_abi, mlir};
use crate::signature::Function;

/// How a function is called with nested values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallForm {
    /// The function as it is called.
    pub function: Function,
    /// Where the values of the raw function are in it, if structured index paths say that.
    pub spread: Option<Spread>,
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
    /// The module states raw values or index paths as its most detailed signature, and they are
    /// malformed or do not fit each other.
    pub fn of(cconv: Option<&str>, attributes: &[(&str, &str)]) -> Result<Self, String> {
        let function = explain(cconv, attributes).function;
        let attribute =
            |key: &str| attributes.iter().find(|(found, _)| *found == key).map(|(_, value)| *value);
        let json = attribute("iree.abi").map(iree_abi::parse);
        let declaration = attribute("iree.abi.declaration").map(mlir::function::parse);
        if json.is_some_and(|it| it.is_ok()) || declaration.is_some_and(|it| it.is_ok()) {
            return Ok(function.into());
        }
        let raw = attribute("f").map(RawSignature::parse).transpose();
        let raw = raw.map_err(|error| format!("the attribute `f` is malformed: {error}"))?;
        let (Some(raw), Some(paths)) = (raw, attribute("sip")) else {
            return Ok(function.into());
        };
        let paths = SipSignature::parse(paths.as_bytes());
        let paths = paths.map_err(|error| format!("the attribute `sip` is malformed: {error}"))?;
        let spread = Spread::new(&paths, &raw)
            .map_err(|error| format!("the attributes `sip` and `f` do not agree: {error}"))?;
        Ok(Self { function, spread: Some(spread) })
    }
}
