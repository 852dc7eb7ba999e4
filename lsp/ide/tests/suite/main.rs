//! What the features say of whole documents, and of modules that iree-compile wrote.

mod abi_oracle;
mod compiled;
mod depth;
mod features;
mod installed;
mod long_functions;
mod mended;
