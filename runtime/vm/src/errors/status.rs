//! Status codes, and the error that instructions and native functions return.
//!
//! The codes are IREE's (and gRPC's): a module can name any of them in `vm.fail`, and tools print
//! them by name.

use std::fmt;

/// What kind of thing went wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
#[allow(missing_docs, reason = "the names are the documentation, and IREE's")]
pub enum StatusCode {
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    AlreadyExists = 6,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    DataLoss = 15,
    Unauthenticated = 16,
    Deferred = 17,
    Incompatible = 18,
}

impl StatusCode {
    const ALL: [(StatusCode, &str); 18] = [
        (Self::Cancelled, "CANCELLED"),
        (Self::Unknown, "UNKNOWN"),
        (Self::InvalidArgument, "INVALID_ARGUMENT"),
        (Self::DeadlineExceeded, "DEADLINE_EXCEEDED"),
        (Self::NotFound, "NOT_FOUND"),
        (Self::AlreadyExists, "ALREADY_EXISTS"),
        (Self::PermissionDenied, "PERMISSION_DENIED"),
        (Self::ResourceExhausted, "RESOURCE_EXHAUSTED"),
        (Self::FailedPrecondition, "FAILED_PRECONDITION"),
        (Self::Aborted, "ABORTED"),
        (Self::OutOfRange, "OUT_OF_RANGE"),
        (Self::Unimplemented, "UNIMPLEMENTED"),
        (Self::Internal, "INTERNAL"),
        (Self::Unavailable, "UNAVAILABLE"),
        (Self::DataLoss, "DATA_LOSS"),
        (Self::Unauthenticated, "UNAUTHENTICATED"),
        (Self::Deferred, "DEFERRED"),
        (Self::Incompatible, "INCOMPATIBLE"),
    ];

    /// The code with this number; 0 is success and no code, numbers without a name are `Unknown`.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        let index = number.checked_sub(1)? as usize;
        Some(Self::ALL.get(index).map_or(Self::Unknown, |(code, _)| *code))
    }

    /// The code with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, other)| *other == name).map(|(code, _)| *code)
    }

    /// The name as IREE's tools print it.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize - 1].1
    }
}

impl fmt::Display for StatusCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error of an operation, without a place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{code}{}{message}", if message.is_empty() { "" } else { "; " })]
pub struct Status {
    /// What kind of thing went wrong.
    pub code: StatusCode,
    /// What went wrong and what to do; may be empty.
    pub message: String,
}

impl Status {
    /// An error with a message.
    #[must_use]
    pub fn new(code: StatusCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

macro_rules! constructors {
    ($($name:ident $code:ident;)*) => {
        impl Status {$(
            #[doc = concat!("A `", stringify!($code), "` error.")]
            #[must_use]
            pub fn $name(message: impl Into<String>) -> Self {
                Self::new(StatusCode::$code, message)
            }
        )*}
    };
}

constructors! {
    invalid_argument InvalidArgument;
    not_found NotFound;
    permission_denied PermissionDenied;
    resource_exhausted ResourceExhausted;
    failed_precondition FailedPrecondition;
    out_of_range OutOfRange;
    unimplemented Unimplemented;
    internal Internal;
}
