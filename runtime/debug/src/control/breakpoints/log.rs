//! Messages of breakpoints and watchpoints, which do not stop the program.

use super::spec::BreakpointId;
use crate::machine::Machine;
use crate::view::frame::SourceLine;

/// A message of a breakpoint.
#[derive(Clone, Debug)]
pub struct LogMessage {
    /// The breakpoint; 0 for a message of the debugger itself.
    pub breakpoint: BreakpointId,
    /// Its text, with values.
    pub text: String,
    /// Where the program was.
    pub source: Option<SourceLine>,
}

/// The receiver of log messages, if there is one.
#[derive(Default)]
pub(crate) struct LogSink(Option<Box<dyn FnMut(LogMessage) + Send>>);

impl LogSink {
    pub(crate) fn new(sink: impl FnMut(LogMessage) + Send + 'static) -> Self {
        Self(Some(Box::new(sink)))
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// Hands a message to the receiver.
    pub(crate) fn send(&mut self, message: LogMessage) {
        if let Some(sink) = &mut self.0 {
            sink(message);
        }
    }

    /// Sends a text on behalf of a breakpoint, with the place where the program stands.
    pub(crate) fn notice(&mut self, machine: &Machine, breakpoint: BreakpointId, text: String) {
        let source = machine.position().and_then(|position| machine.source_line(position));
        self.send(LogMessage { breakpoint, text, source });
    }
}
