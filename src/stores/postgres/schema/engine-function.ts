/** In the names of the engine's functions, so that processes of two releases can each call their own during a deploy. */
const VERSION = 2

export function named(name: EngineFunctionName): string {
  return `${name}_${VERSION}`
}

export type EngineFunctionName = "due" | "fire" | "add" | "claim" | "extend" | "change" | "prune"

/**
 * The engine's statements are functions of the database. Their plans are kept with the connection, also behind a pooler;
 * and the planner is told what it can't know: that a statement of some milliseconds must not be compiled first (that took a
 * second), and that a table which was empty when a plan was made doesn't stay so.
 *
 * No wait for a lock is longer than `lock_timeout`. It is the server that must give up: it would go on waiting for a client
 * that has gone. A patient function waits for a little less than its caller, so the caller receivedHints what was in the way. Belfry
 * itself holds a row for milliseconds. Whoever holds one for longer is somebody else, in a transaction that may stay open for
 * an hour: a function that isn't patient then gives up soon, and is called again without that row.
 *
 * `search_path` is fixed: else whoever may create objects in a schema of the session's path could put a function or an
 * operator there that fits better than the server's own, and it would run with Belfry's rights.
 */
export function engineFunction(about: EngineFunction): string {
  const {
    name,
    takes,
    returns,
    isOfUnknownSize = false,
    isPatient = true,
    declares = "",
    before = "",
    body,
  } = about
  return `
  create function belfry.${named(name)}(${takes}) returns table (${returns})
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set lock_timeout = '${isPatient ? "4s" : "500ms"}'
  set jit = off
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
  ${isOfUnknownSize ? "set enable_hashjoin = off\n  set enable_mergejoin = off" : ""}
  as $$
  #variable_conflict use_column
  declare
    ${declares.trim()}
  begin
    ${before.trim()}
    return query
  ${body.trim()};
  end
  $$;
`
}

export interface EngineFunction {
  readonly name: EngineFunctionName
  readonly takes: string
  readonly returns: string
  /**
   * It takes a limit. For one that isn't known yet the planner assumes a tenth of the table, and joins as if it were: by
   * reading all of it. A claim of 100 among 50,000 runs took 30 ms, and now takes 10.
   */
  readonly isOfUnknownSize?: boolean
  /** False where others may be in its way for long: then it gives up soon. */
  readonly isPatient?: boolean
  readonly declares?: string
  /** Statements that go before. */
  readonly before?: string
  /** The statement whose rows it returns. */
  readonly body: string
}
