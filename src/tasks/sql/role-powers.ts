import type { Clock } from "../../runtime/clock.ts"
import { withDeadline } from "../../runtime/deadline.ts"
import type { Logger } from "../../runtime/logger.ts"
import { rowsOf, type SqlPool } from "./sql-pool.ts"

/** Includes the user of the connection, because a function can `reset role`. */
const FIND_POWERS = `
  select
    r.rolname,
    case
      when r.rolsuper then 'is a superuser'
      when exists (
        select
        from pg_catalog.pg_roles as p
        where p.rolname in ('pg_execute_server_program', 'pg_write_server_files')
          and pg_catalog.pg_has_role(r.oid, p.oid, 'member')
      ) then 'may run programs or write files on the server'
      when r.rolbypassrls then 'bypasses row-level security'
    end as power,
    pg_catalog.pg_has_role(session_user, r.oid, 'member')
  from pg_catalog.pg_roles as r
  where r.rolname in (session_user, $1::name)
  order by r.rolname = session_user desc`

const ANSWER_MS = 10_000

/**
 * Warns if functions run with more rights than any function needs, or can't be run as the role at all. If the database can't be
 * reached, the runs report that.
 */
export async function warnOfPowers(
  pool: SqlPool,
  { role, logger, clock }: { role: string | null; logger: Logger; clock: Clock },
): Promise<void> {
  const found = await powersOf(pool, role, clock)
  const isMember = found.some(([name, , isMember]) => name === role && isMember === "t")
  if (role !== null && !isMember) {
    const text = `Functions can't be called as the role "${role}": there is no such role, or the connection's user may not become it. Grant the role to that user.`
    logger.warn({ component: "sql", role }, text)
  }
  for (const [name, power] of found) {
    if (power === null) continue
    logger.warn(
      { component: "sql", role: name, power },
      `Functions are called by the role "${name}", which ${power}. Every user that may create a function in an allowed schema gets the same rights. Connect as a user with few rights.`,
    )
    return
  }
}

async function powersOf(pool: SqlPool, role: string | null, clock: Clock) {
  const client = await pool.connect()
  let isAnswered = false
  try {
    const late = () => new Error(`PostgreSQL did not answer within ${ANSWER_MS / 1_000} s.`)
    const rows = await withDeadline(clock, rowsOf(client, FIND_POWERS, [role]), { ms: ANSWER_MS, late })
    isAnswered = true
    return rows
  } finally {
    client.release(!isAnswered)
  }
}
