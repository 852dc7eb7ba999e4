// Which variables have no value, as the debug adapter tells: a reason stands in the place of their value.

/** A variable in an answer of the adapter. */
export interface Variable {
  readonly name: string;
  readonly value: string;
  /** Why there is no value: `notYetComputed` and others. Older adapters never send it. */
  readonly ireeAbsent?: string;
}

/**
 * Whether a variable has a value. The text of a value may begin as a reason does, so a text is judged only if the adapter
 * is not known to tell: it has not done so for any variable yet.
 */
export function hasValue({ value, ireeAbsent }: Variable, adapterTells: boolean): boolean {
  return ireeAbsent === undefined && (adapterTells || !value.startsWith("<"));
}
