//! The evaluator: compared with IREE, with arguments of each kind, and with damaged texts.

mod arguments;
mod hostile;
mod oracle;
mod origins;
