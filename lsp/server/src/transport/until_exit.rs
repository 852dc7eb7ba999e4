//! Input that ends when the client says `exit`.
//!
//! tower-lsp reads on until its input ends, and clients wait for the process to end before they
//! close it. Ending the input from inside lets tower-lsp finish what is under way and write it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

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
        // `exit` is handled by the task that reads, so the flag is set before this is asked again.
        if self.state.is_exited() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}
