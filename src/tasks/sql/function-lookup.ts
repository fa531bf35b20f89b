import { SqlFailure } from "./sql-failure.ts"
import type { SqlCall } from "./sql-payload.ts"
import type { SqlRow } from "./sql-pool.ts"

/** A function from the catalogue that can be called. */
export interface FoundFunction {
  /** `app.close_day(jsonb)`, for messages. */
  readonly signature: string
  readonly takesPayload: boolean
}

/** Executed as the role that will call the function. Functions that fit come first, with a payload before without. */
export const FIND_FUNCTIONS = `
  select
    p.prokind,
    pg_catalog.oidvectortypes(p.proargtypes),
    case p.pronargs
      when 0 then 'nothing'
      when 1 then case when p.proargtypes[0] = 'pg_catalog.jsonb'::pg_catalog.regtype then 'payload' else 'other' end
      else 'other'
    end,
    pg_catalog.pg_get_function_result(p.oid),
    p.prorettype = 'pg_catalog.jsonb'::pg_catalog.regtype and not p.proretset,
    p.proisstrict,
    pg_catalog.has_function_privilege(p.oid, 'execute'),
    pg_catalog.has_schema_privilege(n.oid, 'usage'),
    current_user
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where n.nspname = $1::name
    and p.proname = $2::name
  order by
    p.prokind = 'f' desc,
    p.pronargs = 1 and p.proargtypes[0] = 'pg_catalog.jsonb'::pg_catalog.regtype desc,
    p.pronargs = 0 desc,
    p.oid
  limit 10`

interface Candidate {
  readonly kind: string
  readonly types: string
  readonly takes: "nothing" | "payload" | "other"
  readonly returns: string
  readonly returnsJsonb: boolean
  readonly isStrict: boolean
  readonly mayExecute: boolean
  readonly mayUseSchema: boolean
  readonly role: string
}

/** Returns the function to call. Throws a failure that says why there is none and what to do about it. */
export function functionOf(rows: readonly SqlRow[], call: SqlCall): FoundFunction {
  const name = `${call.schema}.${call.name}`
  const candidates = rows.map(candidateOf)
  const first = candidates[0]
  if (first === undefined)
    throw new SqlFailure(`There is no function ${name}(jsonb) or ${name}(). Create it, or correct the name.`)
  if (first.kind !== "f")
    throw new SqlFailure(`${name} is ${KINDS[first.kind] ?? "not a function"}. Only functions can be called.`)
  if (first.takes === "other") {
    const forms = candidates
      .filter(({ kind }) => kind === "f")
      .map(({ types }) => `${name}(${types})`)
      .join(", ")
    throw new SqlFailure(`There is ${forms}, but the function must take one jsonb argument or none.`)
  }
  const signature = `${name}(${first.types})`
  const why = refusalOf(first, signature, call)
  if (why !== null) throw new SqlFailure(why)
  return { signature, takesPayload: first.takes === "payload" }
}

const KINDS: Readonly<Record<string, string>> = {
  p: "a procedure",
  a: "an aggregate",
  w: "a window function",
}

function refusalOf(found: Candidate, signature: string, call: SqlCall): string | null {
  const { role } = found
  if (!found.returnsJsonb)
    return `${signature} returns ${found.returns}; it must return jsonb, such as {"success": true}.`
  if (!found.mayUseSchema)
    return `Role "${role}" may not use schema ${call.schema}. Allow it: grant usage on schema ${call.schema} to "${role}"`
  if (!found.mayExecute)
    return `Role "${role}" may not execute ${signature}. Allow it: grant execute on function ${signature} to "${role}"`
  if (found.isStrict && found.takes === "payload" && call.payload === undefined)
    return `${signature} is strict, so PostgreSQL wouldn't call it without a payload. Set a payload, or declare the function "called on null input".`
  return null
}

function candidateOf(row: SqlRow): Candidate {
  const [kind, types, takes, returns, returnsJsonb, isStrict, mayExecute, mayUseSchema, role] = row
  return {
    kind: kind!,
    types: types!,
    takes: takes as Candidate["takes"],
    // A procedure returns nothing.
    returns: returns ?? "nothing",
    returnsJsonb: returnsJsonb === "t",
    isStrict: isStrict === "t",
    mayExecute: mayExecute === "t",
    mayUseSchema: mayUseSchema === "t",
    role: role!,
  }
}
