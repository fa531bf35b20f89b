import { CLOCK } from "../rows.ts"
import { engineFunction } from "./engine-function.ts"

// State and attempt fence it: a worker that lost the run extends nobody's lease.
export const EXTEND = engineFunction({
  name: "extend",
  takes: "text[], integer[], bigint[], text[]",
  returns: "extended_at timestamptz, run_id text",
  body: `
  with ${CLOCK},
  extended as (
    update belfry.runs as r
    set claimable_at = clock.now + h.lease_ms * interval '1 millisecond',
      progress = coalesce(h.progress::jsonb, r.progress)
    from clock, unnest($1, $2, $3, $4) as h(id, attempt, lease_ms, progress)
    where r.id = h.id
      and r.state = 'running'
      and r.attempt = h.attempt
    returning r.id
  )
  select clock.now, extended.id
  from clock
  left join extended on true`,
})
