/** A limit for calls and waits that hang. No machine is so busy that it reaches it. */
export const PATIENCE_MS = 120_000
