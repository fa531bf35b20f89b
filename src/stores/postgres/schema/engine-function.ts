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
    readsInIndexOrder = false,
    waitsForLocks = true,
    declares = "",
    before = "",
    body,
  } = definition
  const settings = [
    "search_path = pg_catalog, pg_temp",
    `lock_timeout = '${waitsForLocks ? "4s" : "500ms"}'`,
    "jit = off",
    "enable_seqscan = off",
    "plan_cache_mode = force_generic_plan",
    ...(hasUnknownLimit ? ["enable_hashjoin = off", "enable_mergejoin = off"] : []),
    ...(readsInIndexOrder ? ["enable_sort = off"] : []),
  ]
  return `
  create function belfry.${versionedName(name)}(${takes}) returns table (${returns})
  language plpgsql
  ${settings.map((setting) => `set ${setting}`).join("\n  ")}
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
  /**
   * The statement reads the first rows in the order of an index, and only rows with equal keys have to be sorted. A plan made
   * while the table was empty read all of them and sorted them.
   */
  readonly readsInIndexOrder?: boolean
  /** False: gives up after 500 ms, because another transaction may lock a row for long. Default true: 4 s. */
  readonly waitsForLocks?: boolean
  readonly declares?: string
  /** Statements that run first. */
  readonly before?: string
  /** The statement whose rows are returned. */
  readonly body: string
}
