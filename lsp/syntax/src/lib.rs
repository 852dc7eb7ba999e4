//! Text of MLIR and .vmasm: lexers, error-tolerant trees, positions.
