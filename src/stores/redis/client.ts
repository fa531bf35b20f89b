/** As much of ioredis as Belfry uses: a client or a cluster that has this shape fits, wrapped or not. */
export interface RedisClient {
  call(command: string, args: (string | number)[]): Promise<unknown>
  /** Another connection to the same place: one that listens can do nothing else. */
  duplicate(): RedisClient
  readonly isCluster?: boolean
  /** With true it connects again at once. */
  disconnect(reconnect?: boolean): void
  subscribe(channel: string): Promise<unknown>
  on(event: "message", listener: (channel: string, message: string) => void): unknown
  on(event: "ready", listener: () => void): unknown
  on(event: "error", listener: (error: Error) => void): unknown
  off(event: "error", listener: (error: Error) => void): unknown
  /** `keyPrefix` is put before our prefix, as before any key; `db` is the database that a single server is asked for. */
  readonly options?: { readonly keyPrefix?: unknown; readonly db?: unknown }
}

/** The store's own waiting: a timer, and a clock that never goes back. The system's clock fits; so does a test's. */
export interface Waiting {
  monotonic(): number
  setTimer(delayMs: number, callback: () => void): () => void
  random(): number
}

export interface RedisOptions {
  /** What every key begins with: a hash tag, so that a cluster keeps the whole namespace in one slot. */
  readonly prefix: string
  /** How long a call may take, waiting for a connection included. */
  readonly deadlineMs: number
  /** For messages: where the server is, without its password. */
  readonly where: string
  /** SharedHint of what may be wrong and can't be looked at. */
  onWarning(message: string): void
}
