/** The part of ioredis that Belfry uses. Any client or cluster of this shape fits, also a wrapped one. */
export interface RedisClient {
  call(command: string, args: (string | number)[]): Promise<unknown>
  /** A second connection to the same server: a connection that subscribes cannot run other commands. */
  duplicate(): RedisClient
  readonly isCluster?: boolean
  /** With true the client reconnects immediately. */
  disconnect(reconnect?: boolean): void
  subscribe(channel: string): Promise<unknown>
  on(event: "message", listener: (channel: string, message: string) => void): unknown
  on(event: "ready", listener: () => void): unknown
  on(event: "error", listener: (error: Error) => void): unknown
  off(event: "error", listener: (error: Error) => void): unknown
  /** ioredis puts `keyPrefix` before every key, and so before our prefix. `db` is the database number on a single server. */
  readonly options?: { readonly keyPrefix?: unknown; readonly db?: unknown }
}

export interface RedisOptions {
  /** Every key begins with it. It is a hash tag, so a cluster keeps all our keys in one slot. */
  readonly prefix: string
  /** The longest time that a call may take, including the wait for a connection. */
  readonly deadlineMs: number
  /** The server's address for messages, without the password. */
  readonly where: string
  /** Called with a warning if a setting of the server cannot be checked. */
  onWarning(message: string): void
}
