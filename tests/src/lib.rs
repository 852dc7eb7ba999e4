//! Helpers that the cross-crate tests share.
