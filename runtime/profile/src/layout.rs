//! The numbers of the format.

/// `IRPF`.
pub(crate) const MAGIC: u32 = 0x4650_5249;
pub(crate) const MAJOR: u16 = 1;
pub(crate) const MINOR: u16 = 6;

/// The lengths of headers.
pub(crate) const FILE_HEADER: u32 = 24;
pub(crate) const RECORD_HEADER: u32 = 104;

/// The types of records.
pub(crate) const SESSION_BEGIN: u16 = 1;
pub(crate) const CHUNK: u16 = 2;
pub(crate) const SESSION_END: u16 = 3;

/// What stands for "none" in 32 bits.
pub(crate) const NONE: u32 = u32::MAX;

/// The content types.
pub(crate) const PREFIX: &str = "application/vnd.iree.hal.profile.";
pub(crate) const SESSION: &str = "session";
pub(crate) const DEVICES: &str = "devices";
pub(crate) const QUEUES: &str = "queues";
pub(crate) const EXECUTABLES: &str = "executables";
pub(crate) const FUNCTIONS: &str = "executable-functions";
pub(crate) const COMMAND_BUFFERS: &str = "command-buffers";
pub(crate) const COMMAND_OPERATIONS: &str = "command-operations";
pub(crate) const HOST_EVENTS: &str = "host-execution-events";
pub(crate) const DISPATCH_EVENTS: &str = "dispatch-events";
pub(crate) const CLOCKS: &str = "clock-correlations";

/// The lengths of rows.
pub(crate) const DEVICE_ROW: u32 = 32;
pub(crate) const QUEUE_ROW: u32 = 24;
pub(crate) const EXECUTABLE_ROW: u32 = 40;
/// Without its name, which follows.
pub(crate) const FUNCTION_ROW: u32 = 64;
pub(crate) const COMMAND_BUFFER_ROW: u32 = 48;
pub(crate) const COMMAND_OPERATION_ROW: u32 = 120;
pub(crate) const HOST_EVENT_ROW: u32 = 152;
pub(crate) const DISPATCH_EVENT_ROW: u32 = 88;
pub(crate) const CLOCK_ROW: u32 = 72;

/// The kinds of work of a queue.
pub(crate) const DISPATCH: u32 = 2;
pub(crate) const COPY: u32 = 4;
pub(crate) const FILL: u32 = 5;
pub(crate) const UPDATE: u32 = 6;

/// The kinds of operations of a command buffer.
pub(crate) const DISPATCH_OPERATION: u32 = 2;
pub(crate) const FILL_OPERATION: u32 = 3;
pub(crate) const COPY_OPERATION: u32 = 4;
pub(crate) const UPDATE_OPERATION: u32 = 5;

/// The flag of a span that a command buffer has recorded.
pub(crate) const OF_COMMAND_BUFFER: u32 = 1;
