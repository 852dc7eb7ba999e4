// Many buttons of a table as one stop of Tab: arrow keys go from one to the next.

/** Lets Tab stop at the first of the buttons only, and arrows, Home and End go among them. */
export function roving<List extends HTMLElement>(list: List): List {
  const buttons = [...list.querySelectorAll<HTMLButtonElement>("button")];
  buttons.forEach((button, index) => (button.tabIndex = index === 0 ? 0 : -1));
  list.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    const last = buttons.length - 1;
    const steps: Readonly<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last };
    const to = steps[event.key];
    const next = to === undefined ? undefined : buttons[to];
    if (at >= 0 && next !== undefined) {
      event.preventDefault();
      buttons.forEach((button) => (button.tabIndex = button === next ? 0 : -1));
      next.focus();
    }
  });
  return list;
}
