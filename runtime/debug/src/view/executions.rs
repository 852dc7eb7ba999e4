//! What a tensor was each time that its dispatch has run, as plain data.

use crate::tensor::Figures;

/// What a tensor was each time that its dispatch has run, up to where the program stands.
#[derive(Clone, Debug)]
pub struct Executions {
    /// The dispatch.
    pub dispatch: String,
    /// Whether the dispatch leaves the tensor; otherwise it reads it, and nothing that ran has left
    /// it.
    pub is_left: bool,
    /// How many executions are remembered,
    pub total: usize,
    /// and how many are not, as they were too long ago.
    pub forgotten: u64,
    /// How many commands have run.
    pub ran: u64,
    /// The first of those that were looked at.
    pub from: usize,
    /// Those that were looked at, oldest first.
    pub executions: Vec<Execution>,
}

/// The tensor at one execution.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The number of the command.
    pub command: u64,
    /// The figures of the tensor right after it, or right before one that only reads it; or why
    /// they are not known.
    pub figures: Result<Figures, String>,
}
