import type { Clock } from "../../runtime/clock.ts"
import { FIND_FUNCTIONS, functionOf } from "./function-lookup.ts"
import { connect, type SqlConnection } from "./sql-connection.ts"
import { failureOf, type SqlFailure, sqlstateOf } from "./sql-failure.ts"
import type { SqlCall } from "./sql-payload.ts"
import type { SqlPool, SqlRow } from "./sql-pool.ts"

/** Limit of the wait for a connection, because a caller waits. After it the schedule is stored, and its runs report failures. */
const WAIT_MS = 5_000

const NO_LOG = { debug() {}, info() {}, warn() {}, error() {} }

/**
 * Checks before a schedule is stored whether its function can be called: throws the failure that its runs would have. If the
 * database can't be reached now, nothing is known about the function, and this returns.
 */
export async function examineFunction(
  call: SqlCall,
  pool: SqlPool,
  rules: { readonly role: string | null; readonly clock: Clock },
): Promise<void> {
  const rows = await candidates(call, pool, rules).catch((error: unknown) => {
    if (error instanceof RoleFailure) throw error
    return null
  })
  if (rows !== null) functionOf(rows, call)
}

/** The connection's user can't become the role, so no function could be called. */
class RoleFailure extends Error {
  constructor(role: string, cause: SqlFailure) {
    const [firstLine] = cause.message.split("\n")
    super(
      `Functions can't be called as the role "${role}". PostgreSQL says: ${firstLine}. Grant the role to the connection's user.`,
      { cause },
    )
  }
}

/** Reads as the role that will call the function, in a read-only transaction. */
async function candidates(
  { schema, name }: SqlCall,
  pool: SqlPool,
  { role, clock }: { readonly role: string | null; readonly clock: Clock },
): Promise<readonly SqlRow[]> {
  const { signal } = new AbortController()
  const connection = await connect(pool, { signal, waitMs: WAIT_MS, clock, log: NO_LOG })
  try {
    await connection.rowsSoon("begin read only")
    if (role !== null) await become(role, connection)
    return await connection.rowsSoon(FIND_FUNCTIONS, [schema, name])
  } finally {
    await connection.rollBack()
  }
}

async function become(role: string, connection: SqlConnection): Promise<void> {
  try {
    await connection.rowsSoon("select pg_catalog.set_config('role', $1, true)", [role])
  } catch (error) {
    const failure = failureOf(error)
    // Only an error from the server itself is about the role.
    throw sqlstateOf(failure.cause) === null ? error : new RoleFailure(role, failure)
  }
}
