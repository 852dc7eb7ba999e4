//! Modules written in Rust: what their functions get and return. Uses `objects`, `limits` and
//! `errors`; functions act on their context only through [`HostContext`].

mod activity;
mod arguments;
mod call;
mod module;
mod moved_frames;

pub use activity::{
    Activity, Boundary, BoundaryKind, Host, HostContext, KeptActivity, Next, Watch,
};
pub use arguments::Arguments;
pub use call::{Body, IntoResults, NativeCall, NativeReturn};
pub use module::{NativeModule, NativeModuleBuilder};
pub use moved_frames::MovedFrames;

pub(crate) use moved_frames::MovedFrame;
