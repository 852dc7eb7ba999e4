// Asking for a tensor over the executions of its dispatch, a part at a time; what the program does meanwhile ends it.

import type { Times } from "./extent";
import { redraw, request, set, state, textOf } from "./state";

/** The most executions that are looked at: the last ones. */
export const MOST_EXECUTIONS = 1000;

let turn = 0;

/** Looks at the executions. */
export async function lookBack(): Promise<void> {
  const mine = ++turn;
  let times: Times = { of: undefined, first: 0, executions: [], isRunning: true };
  const show = (change: Partial<Times>): void => {
    times = { ...times, ...change };
    set({ times });
    redraw.times();
  };
  show({});
  try {
    const counted = await request("history", {});
    if (mine !== turn) {
      return;
    }
    show({ of: counted, first: Math.max(0, counted.total - MOST_EXECUTIONS) });
    while (times.first + times.executions.length < counted.total) {
      const { executions, ...of } = await request("history", { from: times.first + times.executions.length });
      if (mine !== turn) {
        return;
      }
      if (executions.length === 0) {
        break;
      }
      show({ of, executions: [...times.executions, ...executions] });
    }
    show({ isRunning: false });
  } catch (error) {
    if (mine === turn) {
      show({ isRunning: false, error: textOf(error) });
    }
  }
}

/** After another stop: looks again if the program has gone on. If it has gone back, the curves stay as they were,
 * so that another point can be chosen. */
export async function lookAgain(): Promise<void> {
  const known = state.times?.of?.ran;
  if (state.view !== "time" || known === undefined) {
    return;
  }
  stopLooking();
  const now = await request("history", {}).then(
    ({ ran }) => ran,
    () => undefined,
  );
  if (now !== undefined && now > known) {
    await lookBack();
  }
}

/** Looks no further. */
export function stopLooking(): void {
  turn++;
  set({ times: state.times && { ...state.times, isRunning: false } });
  redraw.times();
}
