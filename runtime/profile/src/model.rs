//! What a profile says.

use std::collections::BTreeMap;

/// A profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The name of the device: `local-sync`.
    pub device: String,
    /// The functions of executables.
    pub functions: Vec<Function>,
    /// What ran, in the order of the file.
    pub spans: Vec<Span>,
}

/// A function of an executable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its executable's number, from 1.
    pub executable: u64,
    /// Its ordinal there.
    pub ordinal: u32,
    /// The exported name.
    pub name: String,
    /// How many push constants it takes.
    pub constants: u32,
    /// How many bindings it takes.
    pub bindings: u32,
    /// The size of its workgroups.
    pub workgroup_size: [u32; 3],
}

/// What a span of time was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A function of an executable ran.
    Dispatch {
        /// The executable.
        executable: u64,
        /// The function's ordinal in it.
        ordinal: u32,
        /// How many workgroups.
        workgroup_count: [u32; 3],
    },
    /// Bytes were copied.
    Copy {
        /// How many.
        bytes: u64,
    },
    /// Bytes were filled.
    Fill {
        /// How many.
        bytes: u64,
    },
    /// Bytes of the program were written.
    Update {
        /// How many.
        bytes: u64,
    },
}

/// A span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it was spent on.
    pub work: Work,
    /// Its index in its command buffer, if it is known.
    pub command_index: Option<u32>,
    /// When it began, in nanoseconds of a clock that only goes forward.
    pub start: i64,
    /// When it ended.
    pub end: i64,
}

/// How long the runs of a function took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionTimes {
    /// How often it ran.
    pub count: u64,
    /// All of its time, in nanoseconds.
    pub total: u64,
    /// Its longest run.
    pub longest: u64,
}

impl Profile {
    /// The function that a dispatch runs.
    pub(crate) fn function(&self, executable: u64, ordinal: u32) -> Option<&Function> {
        self.functions.iter().find(|it| it.executable == executable && it.ordinal == ordinal)
    }

    /// How long each function took, by its name.
    #[must_use]
    pub fn times(&self) -> BTreeMap<&str, FunctionTimes> {
        let mut times: BTreeMap<&str, FunctionTimes> = BTreeMap::new();
        let names: BTreeMap<(u64, u32), &str> =
            self.functions.iter().map(|it| ((it.executable, it.ordinal), &*it.name)).collect();
        for span in &self.spans {
            let Work::Dispatch { executable, ordinal, .. } = span.work else { continue };
            let Some(name) = names.get(&(executable, ordinal)) else { continue };
            let took = span.end.saturating_sub(span.start).max(0).unsigned_abs();
            let known = times.entry(name).or_default();
            known.count += 1;
            known.total = known.total.saturating_add(took);
            known.longest = known.longest.max(took);
        }
        times
    }
}
