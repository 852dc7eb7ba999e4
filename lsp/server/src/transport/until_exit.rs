//! Input that ends at the client's `exit`.
//!
//! tower-lsp reads until its input ends, and clients keep the input open until the process ends.
//! Ending the input here lets tower-lsp finish running requests and write their answers.

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
        // The reading task handles `exit`, so the flag is set before the next read.
        if self.state.is_exited() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}
