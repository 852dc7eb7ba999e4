//! What the features say of whole documents, and of modules that iree-compile wrote.

mod abi_oracle;
mod authoring;
mod compiled;
mod depth;
mod faults;
mod features;
mod fixes;
mod formatting;
mod installed;
mod long_functions;
mod mended;
mod places;
