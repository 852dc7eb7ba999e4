export function newest(work: () => Promise<void>): () => Promise<void>;
