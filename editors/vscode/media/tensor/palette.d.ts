export type Colour = readonly [number, number, number];
export const VIRIDIS: readonly Colour[];
export const DIVERGING: readonly Colour[];
export const NAN: Colour;
export const INFINITE: Colour;
export const NEGATIVE_INFINITE: Colour;
export function colour(map: readonly Colour[], at: number): Colour;
