// Which variables have no value, as the debug adapter tells: a reason stands in the place of their value.

/** A variable in an answer of the adapter. */
export interface Variable {
  readonly name: string;
  readonly value: string;
  /** Why there is no value: `notYetComputed` and others. Older adapters never send it. */
  readonly ireeAbsent?: string;
}

/** A message of the adapter, as far as it says what the adapter tells. */
export interface AdapterMessage {
  readonly type: string;
  readonly command?: string;
  readonly body?: { readonly supportsIreeAbsent?: boolean };
}

/** Whether a message announces that variables without a value have `ireeAbsent`: the answer to `initialize` does. */
export function announcesAbsent({ type, command, body }: AdapterMessage): boolean {
  return type === "response" && command === "initialize" && body?.supportsIreeAbsent === true;
}

/**
 * Whether a variable has a value. The text of a value may begin as a reason does, so a text is judged only if the adapter
 * is an older one, which does not tell.
 */
export function hasValue({ value, ireeAbsent }: Variable, adapterTells: boolean): boolean {
  return ireeAbsent === undefined && (adapterTells || !value.startsWith("<"));
}
