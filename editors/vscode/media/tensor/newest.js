// Asking again while an answer is under way.

/** Does work at most once at a time; of the wishes that come meanwhile, only the newest is served. */
export function newest(work) {
  let running = false;
  let again = false;
  return async function run() {
    if (running) {
      again = true;
      return;
    }
    running = true;
    let failure;
    do {
      again = false;
      // Work that fails must not keep later wishes waiting for it.
      failure = await work().then(() => undefined, (error) => ({ error }));
    } while (again);
    running = false;
    if (failure !== undefined) {
      throw failure.error;
    }
  };
}
