//! What scalar instructions compute: small pure functions, tested alone, shared by everything that
//! evaluates them. The interpreter only moves operands in and results out.

pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod hash;
pub(crate) mod int;
pub(crate) mod system;
