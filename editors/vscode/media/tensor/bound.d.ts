export function boundText(found: { readonly known: number; readonly beyond: number }, count: number): string;
