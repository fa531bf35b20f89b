import type { Pool, PoolClient } from "./client.ts"

/**
 * Keeps connections that break from ending the process. Returns the function that removes the listeners.
 *
 * A pool emits errors of idle connections. A connection in use emits them itself, and `withClient` listens. Between the two there
 * is a gap: the pool removes its listener when it lends a connection, and the borrower gets the connection a moment later. If
 * the server closes the connection in that moment, nothing listens. So each new connection gets a listener for its whole life.
 */
export function ignoreConnectionErrors(pool: Pick<Pool, "on" | "off">): () => void {
  pool.on?.("error", ignored)
  pool.on?.("connect", watch)
  return () => {
    pool.off?.("error", ignored)
    pool.off?.("connect", watch)
  }
}

/** Several stores may share a pool. */
const watched = new WeakSet<PoolClient>()

function watch(client: PoolClient): void {
  if (watched.has(client)) return
  watched.add(client)
  client.on?.("error", ignored)
}

/** The pool removes the connection, and the statement on it fails. */
function ignored(): void {}
