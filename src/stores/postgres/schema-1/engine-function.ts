/**
 * The engine's statements are functions of the database. Their plans are kept with the connection, also behind a pooler;
 * and the planner is told what it can't know: that a statement of some milliseconds must not be compiled first (that took a
 * second), and that a table which was empty when a plan was made doesn't stay so.
 */
export function engineFunction({ name, takes, returns, body }: EngineFunction): string {
  return `
  create function belfry.${name}(${takes}) returns table (${returns})
  language plpgsql
  set jit = off
  set enable_seqscan = off
  as $$
  #variable_conflict use_column
  begin
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
  readonly body: string
}
