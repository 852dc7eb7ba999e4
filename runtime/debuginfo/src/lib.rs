//! Where a bytecode offset comes from and what is alive there.
