//! Level 2: the tree of one chunk, made of operations, regions, blocks and groups.
//!
//! It is compact arrays instead of linked nodes. A token takes 12 bytes and a node 24, both with
//! offsets from the chunk's start, so a tree stays valid when its chunk moves. Nodes lie in
//! preorder: the children of a node follow it, and [`Node::end`] is the end of its subtree. Every
//! byte of the chunk is in a token or in the white space between two tokens. Tokens only refer to
//! the text, so nothing is lost and no constant is copied.
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
//! A parser that knows the dialects would know where things end; here the shape of the text has to
//! tell. `parser` says how.

mod lookahead;
mod nodes;
mod parser;

pub use nodes::{Leaf, Node, NodeId, NodeKind, SyntaxError, SyntaxErrorKind, Tree};
pub use parser::Shape;
