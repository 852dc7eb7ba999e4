//! Which numbers stop the program.

/// Numbers that stop the program where they go wrong: floats where they first appear, where no
/// operand was one already; integers where they overflow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Traps {
    /// An instruction computes NaN; or a dispatch of machine code, whose instructions nobody sees,
    /// leaves one.
    pub nan: bool,
    /// The same for infinities.
    pub infinity: bool,
    /// A dispatch leaves more NaN in what it is bound to than it found.
    pub dispatch_nan: bool,
    /// The same for infinities.
    pub dispatch_infinity: bool,
    /// An operation on integers that the program was written with overflows, or shifts by too much.
    pub overflow: bool,
    /// Each of them stops, however often an operation makes them; otherwise an operation stops
    /// once.
    pub every: bool,
}

impl Traps {
    pub(crate) fn watches_floats(self) -> bool {
        self.nan || self.infinity
    }

    pub(crate) fn watches_instructions(self) -> bool {
        self.watches_floats() || self.overflow
    }

    pub(crate) fn watches_dispatches(self) -> bool {
        self.dispatch_nan || self.dispatch_infinity || self.watches_floats()
    }
}
