import type { Instant } from "../../core/time/instant.ts"
import { type AcquireAnswer, assertHold, assertOwner, type LockBackend } from "../../lock/backend.ts"
import { LockConnection } from "../../lock/lock-connection.ts"
import type { Timers } from "../kit/timers.ts"
import { Connection, type ConnectionOptions } from "./connection.ts"
import { loadDriver } from "./driver.ts"

const SELECT_HOLD = `
  select fence, token, expires_at
  from belfry_locks
  where name = ?
    and expires_at > ?`

const DELETE_HOLD = `
  delete from belfry_locks
  where name = ?`

const INSERT_HOLD = `
  insert into belfry_locks (name, token, expires_at)
  values (?, ?, ?)
  returning fence`

const EXTEND = `
  update belfry_locks
  set expires_at = ?
  where name = ?
    and token = ?
    and expires_at > ?`

const RELEASE = `
  delete from belfry_locks
  where name = ?
    and token = ?
    and expires_at > ?`

// Removes locks of processes that died, if their names were not asked for again. Runs when a process opens the file.
const DELETE_EXPIRED = `
  delete from belfry_locks
  where expires_at < ?`

const EXPIRED_FOR_MS = 3_600_000

/** Locks in one file, for the processes of one host. Every write takes the file's write lock first, so it is an atom. */
export function createSqliteLocks(options: ConnectionOptions, timers: Timers): LockBackend {
  const lockConnection = new LockConnection(
    {
      where: options.path,
      async open() {
        const connection = await Connection.open(await loadDriver(), options, timers)
        await connection.write((now) => connection.prepare(DELETE_EXPIRED).run(now - EXPIRED_FOR_MS))
        return connection
      },
      close: (connection) => connection.close(),
    },
    timers,
  )
  return {
    open: () => lockConnection.open(),
    close: () => lockConnection.close(),
    async acquire(name, token, ttlMs) {
      assertHold(name, token, ttlMs)
      return lockConnection.use(async (connection) => {
        // Without the write lock first, so that processes that wait for a lock delay no other process.
        const held = await connection.read((now) => heldByAnother(connection, name, token, now))
        return held ?? connection.write((now) => acquire(connection, { name, token, ttlMs, now }))
      })
    },
    async extend(name, token, ttlMs) {
      assertHold(name, token, ttlMs)
      return lockConnection.use((connection) =>
        connection.write((now) => isOne(connection.prepare(EXTEND).run(now + ttlMs, name, token, now))),
      )
    },
    async release(name, token) {
      assertOwner(name, token)
      return lockConnection.use((connection) =>
        connection.write((now) => isOne(connection.prepare(RELEASE).run(name, token, now))),
      )
    },
  }
}

interface HoldRow {
  readonly fence: number
  readonly token: string
  readonly expires_at: Instant
}

function holdOf(connection: Connection, name: string, now: Instant): HoldRow | undefined {
  return connection.prepare(SELECT_HOLD).get(name, now) as HoldRow | undefined
}

function heldByAnother(
  connection: Connection,
  name: string,
  token: string,
  now: Instant,
): AcquireAnswer | null {
  const hold = holdOf(connection, name, now)
  return hold === undefined || hold.token === token ? null : { outcome: "held", forMs: hold.expires_at - now }
}

function acquire(
  connection: Connection,
  { name, token, ttlMs, now }: { name: string; token: string; ttlMs: number; now: Instant },
): AcquireAnswer {
  const hold = holdOf(connection, name, now)
  if (hold !== undefined && hold.token !== token) return { outcome: "held", forMs: hold.expires_at - now }
  if (hold !== undefined) {
    connection.prepare(EXTEND).run(now + ttlMs, name, token, now)
    return { outcome: "acquired", fence: hold.fence }
  }
  connection.prepare(DELETE_HOLD).run(name)
  const { fence } = connection.prepare(INSERT_HOLD).get(name, token, now + ttlMs) as { fence: number }
  return { outcome: "acquired", fence }
}

function isOne({ changes }: { changes: number | bigint }): boolean {
  return Number(changes) === 1
}
