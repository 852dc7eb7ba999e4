/** See platforms.mjs. */
export function platformsOf(path: string): string[];
export function platformsOfHead(head: Buffer): (string | undefined)[];
