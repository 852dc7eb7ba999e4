//! What an IREE VM module is: archive, schema, instructions, text.
