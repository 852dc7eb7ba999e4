//! [`LimitError`]: why a text is no limit.

/// Why a text states no amount of time or memory.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LimitError {
    /// After the number stands no known unit.
    #[error("`{unit}` is not a unit: expected {expected}")]
    Unit {
        /// What stands there.
        unit: String,
        /// The units.
        expected: &'static str,
    },
    /// Before the unit stands no number.
    #[error("`{text}` is not {kind}")]
    Number {
        /// The whole text.
        text: String,
        /// What it should be.
        kind: &'static str,
    },
    /// It does not say what is compiled.
    #[error("`{0}` does not say which functions are compiled: expected on, off or always")]
    Tier(String),
    /// The amount does not fit.
    #[error("`{0}` is too large")]
    TooLarge(String),
}
