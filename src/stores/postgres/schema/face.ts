import { BY_HAND } from "./by-hand.ts"
import { CHECKS } from "./checks.ts"
import { OPERATIONS } from "./operations.ts"
import { PINNED } from "./tables.ts"
import { VIEWS } from "./views.ts"

/**
 * What an integrator with nothing but SQL has: schedules are rows, operations are functions, and what happened is in two
 * views. A running Belfry is told of every change by the transaction that made it.
 */
export const SQL_FACE = `
  create function belfry.this_instant() returns timestamptz language sql volatile ${PINNED} as $$
    select date_trunc('milliseconds', clock_timestamp())
  $$;

  create function belfry.to_ms(at timestamptz) returns bigint language sql immutable ${PINNED} as $$
    select round(extract(epoch from at) * 1000)::bigint
  $$;

  ${CHECKS}
  ${BY_HAND}
  ${OPERATIONS}
  ${VIEWS}
`
