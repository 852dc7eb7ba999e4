//! Settings of traps: what stops the program without a breakpoint.

/// Numbers that stop the program where they go wrong: floats where an operation makes a bad one of
/// operands that have none, integers where they overflow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Traps {
    /// An operation makes NaN. A dispatch is looked at only if it leaves one: it runs again then,
    /// checked by operation.
    pub nan: bool,
    /// The same for infinities.
    pub infinity: bool,
    /// NaN and infinities are looked for in each operation of bytecode while it runs, also where a
    /// dispatch does not leave them.
    pub operations: bool,
    /// A dispatch leaves more NaN in its outputs than it found there.
    pub dispatch_nan: bool,
    /// The same for infinities.
    pub dispatch_infinity: bool,
    /// An integer operation of the source overflows, or shifts by too much.
    pub overflow: bool,
    /// A dispatch leaves something else than its text says.
    pub difference: bool,
    /// Every occurrence stops; otherwise each operation stops once.
    pub every: bool,
}

impl Traps {
    /// What these and others ask for together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            nan: self.nan | other.nan,
            infinity: self.infinity | other.infinity,
            operations: self.operations | other.operations,
            dispatch_nan: self.dispatch_nan | other.dispatch_nan,
            dispatch_infinity: self.dispatch_infinity | other.dispatch_infinity,
            overflow: self.overflow | other.overflow,
            difference: self.difference | other.difference,
            every: self.every | other.every,
        }
    }

    pub(crate) fn watches_floats(self) -> bool {
        self.nan || self.infinity
    }

    pub(crate) fn watches_instructions(self) -> bool {
        self.watches_floats() || self.overflow
    }

    /// Whether what dispatches leave is searched for bad floats.
    pub(crate) fn looks_at_floats(self) -> bool {
        self.dispatch_nan || self.dispatch_infinity || self.watches_floats()
    }

    pub(crate) fn watches_dispatches(self) -> bool {
        self.looks_at_floats() || self.difference
    }
}
