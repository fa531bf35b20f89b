/**
 * The engine's statements are functions of the database. Their plans are kept with the connection, also behind a pooler;
 * and the planner is told what it can't know: that a statement of some milliseconds must not be compiled first (that took a
 * second), and that a table which was empty when a plan was made doesn't stay so.
 *
 * Belfry itself holds a row for milliseconds. Whoever holds one for longer is somebody else, in a transaction that may stay
 * open for an hour: a statement that isn't patient then gives up, and is sent again without that row. It is the server that
 * must give up: it would go on waiting for a client that has gone.
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
  create function belfry.${name}(${takes}) returns table (${returns})
  language plpgsql
  set jit = off
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
  ${isOfUnknownSize ? "set enable_hashjoin = off\n  set enable_mergejoin = off" : ""}
  ${isPatient ? "" : "set lock_timeout = '500ms'"}
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
  readonly name: string
  readonly takes: string
  readonly returns: string
  /**
   * It takes a limit. For one that isn't known yet the planner assumes a tenth of the table, and joins as if it were: by
   * reading all of it. A claim of 100 among 50,000 runs took 30 ms, and now takes 10.
   */
  readonly isOfUnknownSize?: boolean
  /** False where others may be in its way for long: then it gives up. */
  readonly isPatient?: boolean
  readonly declares?: string
  /** Statements that go before. */
  readonly before?: string
  /** The statement whose rows it returns. */
  readonly body: string
}
