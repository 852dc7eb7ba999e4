//! Signatures as data, and typed values as text.
