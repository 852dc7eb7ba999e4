// How many elements are farther from what their dispatch should have left than any correct implementation could be, in
// words.

/** Of `known` elements the bound is known; `count` is how many there are. */
export function boundText(found: { readonly known: number; readonly beyond: number }, count: number): string {
  const { known, beyond } = found;
  if (known === 0) {
    return `no bound for any of ${count}`;
  }
  return known < count ? `${beyond} of ${known}; no bound for ${count - known}` : `${beyond} of ${known}`;
}
