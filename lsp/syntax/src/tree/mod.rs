//! Level 2: the tree of one chunk: operations, regions, blocks, groups.
//!
//! Compact arrays instead of linked nodes. Tokens are 12 bytes, nodes 24, both relative to the
//! chunk's start, so a tree is as good for a chunk that moved. Nodes lie in preorder: the children
//! of a node follow it, and [`Node::end`] is where its subtree ends. Every byte of the chunk is in
//! a token or in the white space between two, and tokens only refer to the text: nothing is lost
//! and no constant is copied.
//!
//! ```text
//! Root
//! └─ Operation            %0 = scf.if %c -> (i32) { … }
//!    ├─ Results           %0
//!    ├─ Name              scf.if
//!    ├─ Paren             (i32)
//!    └─ Region            { … }
//!       └─ Block          everything, or what follows a ^label
//!          └─ Operation …
//! ```
//!
//! What a parser of a known dialect would know, the shape of the text has to tell here;
//! `parser` says how.

mod lookahead;
mod nodes;
mod parser;

pub use nodes::{Leaf, Node, NodeId, NodeKind, SyntaxError, SyntaxErrorKind, Tree};
pub use parser::Shape;
