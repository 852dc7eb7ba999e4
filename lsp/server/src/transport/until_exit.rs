//! Input that ends at the client's `exit`, and an `exit` when the client's process ends.
//!
//! tower-lsp reads until its input ends, and clients keep the input open until the process ends.
//! Ending the input here lets tower-lsp finish running requests and write their answers.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};

use super::state::State;

pub(crate) struct UntilExit<I> {
    inner: I,
    state: Arc<State>,
}

impl<I> UntilExit<I> {
    pub(crate) fn new(inner: I, state: Arc<State>) -> Self {
        Self { inner, state }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for UntilExit<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        // The reading task handles `exit`, so the flag is set before the next read.
        if self.state.is_exited() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

/// How often the client's process is looked for.
const WATCH: Duration = Duration::from_secs(3);

/// Ends the session when a process ends. A copy of the client's pipe that another program holds
/// would keep the input open. A process that cannot be seen from here, such as one outside of a
/// container, is not watched.
pub(crate) fn when_process_ends(process: u32, state: Arc<State>) {
    if !is_alive(process) {
        return;
    }
    tokio::spawn(async move {
        while is_alive(process) {
            tokio::time::sleep(WATCH).await;
        }
        state.exited.send_replace(true);
    });
}

#[cfg(unix)]
fn is_alive(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    process.is_some_and(|process| {
        rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH)
    })
}

#[cfg(not(unix))]
fn is_alive(_: u32) -> bool {
    false
}
