//! The model of a module, and reading it from bytes. Does not look into bytecode.
//!
//! | file | holds |
//! | --- | --- |
//! | `model` | every table of the FlatBuffer, copied out, checked, typed |
//! | `version_peek` | the bytecode version of a module of any schema |
//! | `loading` | from bytes to the model |

mod loading;
mod model;
mod version_peek;

pub use model::{
    Attribute, Dependency, Export, Features, Function, FunctionSignature, Import, Module,
    ModuleState, RodataSegment, TypeDef,
};

pub(crate) use model::argument_registers;
