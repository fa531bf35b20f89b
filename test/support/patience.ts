/** A limit for calls and waits that hang. Even a very busy machine doesn't reach it. */
export const PATIENCE_MS = 120_000
