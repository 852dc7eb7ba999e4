// Asking again while an answer is under way.

/** Does work at most once at a time; of the wishes that come meanwhile, only the newest is served. */
export function newest(work: () => Promise<void>): () => Promise<void> {
  let isRunning = false;
  let again = false;
  return async () => {
    if (isRunning) {
      again = true;
      return;
    }
    isRunning = true;
    let failure: { readonly error: unknown } | undefined;
    do {
      again = false;
      // Work that fails must not keep later wishes waiting for it.
      failure = await work().then(() => undefined, (error: unknown) => ({ error }));
    } while (again);
    isRunning = false;
    if (failure !== undefined) {
      throw failure.error;
    }
  };
}
