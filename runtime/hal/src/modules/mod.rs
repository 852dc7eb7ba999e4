//! Native modules: what programs import. Glue from calling conventions to the rest of this crate.

pub mod vmvx;
