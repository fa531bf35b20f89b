/** Part of the names of the engine's functions, so that processes of two releases can each call their own during a deploy. */
const VERSION = 2

export function versionedName(name: EngineFunctionName): string {
  return `${name}_${VERSION}`
}

export type EngineFunctionName = "due" | "fire" | "add" | "claim" | "extend" | "change" | "prune"

/**
 * The engine's statements are functions, so that their plans stay with the connection, also behind a pooler. The settings
 * prevent two planner mistakes: compiling a short statement (took a second) and planning for a table that was empty.
 *
 * `lock_timeout` limits every wait on the server, because a server goes on waiting for a client that has gone. Functions that
 * wait for locks give up shortly before the caller's deadline, so the caller gets the reason. The others give up after 500 ms and
 * are called again without the locked row: Belfry itself locks a row for milliseconds, but another transaction may stay open for
 * an hour.
 *
 * `search_path` is fixed: otherwise a user who may create functions or operators in another schema could run code with Belfry's
 * rights.
 */
export function engineFunction(definition: EngineFunction): string {
  const {
    name,
    takes,
    returns,
    hasUnknownLimit = false,
    waitsForLocks = true,
    declares = "",
    before = "",
    body,
  } = definition
  return `
  create function belfry.${versionedName(name)}(${takes}) returns table (${returns})
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set lock_timeout = '${waitsForLocks ? "4s" : "500ms"}'
  set jit = off
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
  ${hasUnknownLimit ? "set enable_hashjoin = off\n  set enable_mergejoin = off" : ""}
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
   * The statement has a limit that is a parameter. The planner then assumes a tenth of the table, and chooses joins that read all
   * of it. A claim of 100 among 50,000 runs took 30 ms, and now takes 10.
   */
  readonly hasUnknownLimit?: boolean
  /** False: gives up after 500 ms, because another transaction may lock a row for long. Default true: 4 s. */
  readonly waitsForLocks?: boolean
  readonly declares?: string
  /** Statements that run first. */
  readonly before?: string
  /** The statement whose rows are returned. */
  readonly body: string
}
