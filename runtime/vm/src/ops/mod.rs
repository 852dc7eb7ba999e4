//! What scalar instructions compute: small pure functions, tested on their own. The interpreter
//! only moves operands in and results out. Uses `errors` only.

pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod hash;
pub(crate) mod int;
pub(crate) mod system;
