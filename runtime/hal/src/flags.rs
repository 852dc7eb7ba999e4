//! Sets of flags that programs pass as bits: kinds of memory, rights, intended uses.
//!
//! The bits and their names are IREE's. Text lists names that cover several bits before names of
//! single bits, as IREE's does, so that messages are the same.

use std::fmt;
use std::ops::BitOr;

macro_rules! flags {
    ($(#[$doc:meta])* $vis:vis $name:ident { $($flag:ident = $bits:expr;)* } in text $table:tt) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        $vis struct $name($vis u32);

        #[allow(missing_docs, reason = "the names are the documentation, and IREE's")]
        impl $name {
            $($vis const $flag: Self = Self($bits);)*
        }

        impl $name {
            /// Whether all of `flags` are in the set.
            #[must_use]
            $vis fn contains(self, flags: Self) -> bool {
                self.0 & flags.0 == flags.0
            }
        }

        impl BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_names(f, self.0, &flags!(@names $name $table))
            }
        }
    };
    (@names $name:ident [$($flag:ident)*]) => {
        [$((stringify!($flag), $name::$flag.0)),*]
    };
}

/// Names between `|`; bits without a name come last, in hexadecimal.
fn write_names(f: &mut fmt::Formatter<'_>, bits: u32, names: &[(&str, u32)]) -> fmt::Result {
    let mut remaining = bits;
    let mut separator = "";
    for (name, flag) in names {
        if remaining & flag == *flag {
            write!(f, "{separator}{name}")?;
            remaining &= !flag;
            separator = "|";
        }
    }
    if remaining != 0 { write!(f, "{separator}{remaining:X}h") } else { Ok(()) }
}

flags! {
    /// Where memory is, and whether host and device can access it.
    pub MemoryType {
        OPTIMAL = 1;
        HOST_VISIBLE = 1 << 1;
        HOST_COHERENT = 1 << 2;
        HOST_CACHED = 1 << 3;
        DEVICE_VISIBLE = 1 << 4;
        DEVICE_LOCAL = 1 << 4 | 1 << 5;
        HOST_LOCAL = 1 << 1 | 1 << 2 | 1 << 6;
    }
    in text [
        HOST_LOCAL DEVICE_LOCAL OPTIMAL HOST_VISIBLE HOST_COHERENT HOST_CACHED DEVICE_VISIBLE
    ]
}

flags! {
    /// What may be done with memory.
    pub MemoryAccess {
        READ = 1;
        WRITE = 1 << 1;
        DISCARD = 1 << 2;
        DISCARD_WRITE = 1 << 1 | 1 << 2;
        MAY_ALIAS = 1 << 3;
        ALL = 1 | 1 << 1 | 1 << 2;
        ANY = 1 << 5;
    }
    in text [ALL DISCARD_WRITE READ WRITE DISCARD MAY_ALIAS ANY]
}

flags! {
    /// What a buffer is meant for.
    pub BufferUsage {
        TRANSFER_SOURCE = 1;
        TRANSFER_TARGET = 1 << 1;
        TRANSFER = 0b11;
        DISPATCH_INDIRECT_PARAMETERS = 1 << 8;
        DISPATCH_UNIFORM_READ = 1 << 9;
        DISPATCH_STORAGE_READ = 1 << 10;
        DISPATCH_STORAGE_WRITE = 1 << 11;
        DISPATCH_STORAGE = 0b11 << 10;
        DISPATCH_IMAGE_READ = 1 << 12;
        DISPATCH_IMAGE_WRITE = 1 << 13;
        DISPATCH_IMAGE = 0b11 << 12;
        DISPATCH = 0b11_1111 << 8;
        SHARING_EXPORT = 1 << 16;
        SHARING_REPLICATE = 1 << 17;
        SHARING_CONCURRENT = 1 << 18;
        SHARING_IMMUTABLE = 1 << 19;
        MAPPING_SCOPED = 1 << 24;
        MAPPING_PERSISTENT = 1 << 25;
        MAPPING_OPTIONAL = 1 << 26;
        MAPPING_ACCESS_RANDOM = 1 << 27;
        MAPPING_ACCESS_SEQUENTIAL_WRITE = 1 << 28;
        MAPPING = 0b1001 << 24;
        DEFAULT = 0b11 | 0b11 << 10;
    }
    in text [
        TRANSFER DISPATCH DISPATCH_STORAGE DISPATCH_IMAGE MAPPING TRANSFER_SOURCE TRANSFER_TARGET
        DISPATCH_INDIRECT_PARAMETERS DISPATCH_UNIFORM_READ DISPATCH_STORAGE_READ
        DISPATCH_STORAGE_WRITE DISPATCH_IMAGE_READ DISPATCH_IMAGE_WRITE SHARING_EXPORT
        SHARING_REPLICATE SHARING_CONCURRENT SHARING_IMMUTABLE MAPPING_SCOPED MAPPING_PERSISTENT
        MAPPING_OPTIONAL MAPPING_ACCESS_RANDOM MAPPING_ACCESS_SEQUENTIAL_WRITE
    ]
}

impl BufferUsage {
    /// Whether any of `flags` is in the set.
    pub(crate) fn intersects(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }
}

flags! {
    /// What an allocator can do with a buffer, and what queues can do with it.
    pub(crate) Compatibility {
        ALLOCATABLE = 1;
        IMPORTABLE = 1 << 1;
        EXPORTABLE = 1 << 2;
        QUEUE_TRANSFER = 1 << 10;
        QUEUE_DISPATCH = 1 << 11;
        LOW_PERFORMANCE = 1 << 20;
    }
    in text [
        ALLOCATABLE IMPORTABLE EXPORTABLE QUEUE_TRANSFER QUEUE_DISPATCH LOW_PERFORMANCE
    ]
}

flags! {
    /// What kinds of commands a command buffer may hold.
    pub(crate) CommandCategories {
        TRANSFER = 1;
        DISPATCH = 1 << 1;
        ANY = 0b11;
    }
    in text [ANY TRANSFER DISPATCH]
}

flags! {
    /// How a command buffer is meant to be used.
    pub(crate) CommandBufferMode {
        ONE_SHOT = 1;
        ALLOW_INLINE_EXECUTION = 1 << 4;
        UNVALIDATED = 1 << 5;
        UNRETAINED = 1 << 6;
    }
    in text [ONE_SHOT ALLOW_INLINE_EXECUTION UNVALIDATED UNRETAINED]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_reference() {
        let of_device = MemoryType::DEVICE_LOCAL | MemoryType::HOST_VISIBLE;
        assert_eq!(of_device.to_string(), "DEVICE_LOCAL|HOST_VISIBLE");
        assert_eq!(
            BufferUsage(0x1000_0000_u32 | 1 << 30).to_string(),
            "MAPPING_ACCESS_SEQUENTIAL_WRITE|40000000h"
        );
        assert_eq!(BufferUsage(0x3).to_string(), "TRANSFER");
        assert_eq!(MemoryAccess(3).to_string(), "READ|WRITE");
    }
}
