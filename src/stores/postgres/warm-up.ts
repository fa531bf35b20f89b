import type { Database } from "./database.ts"
import { CLAIM } from "./statements/claiming.ts"
import { SELECT_DUE } from "./statements/due.ts"
import { FIRE, NO_PLANS } from "./statements/firing.ts"
import { CHANGE_RUNS, NO_CHANGES } from "./statements/transition.ts"

/** How many connections a process that fires and works uses at the same time. */
const CONNECTIONS = 3

/** The calls of the loops, without any elements. A read with limit 0 takes no share. */
const CALLS: readonly (readonly [text: string, values: readonly unknown[]])[] = [
  [SELECT_DUE, [0, 1, 0, 0]],
  [FIRE, NO_PLANS],
  [CLAIM, ["", [], [], 1]],
  [CHANGE_RUNS, NO_CHANGES],
]

/**
 * Lets connections plan their statements in advance. The first call of each kind on a connection takes some milliseconds longer.
 * Without this, all of them would happen at the first instant at which something is due.
 */
export async function warmUp(database: Database, isOver: () => boolean): Promise<void> {
  const warmUpConnection = () =>
    database.withClient(async (client) => {
      for (const [text, values] of CALLS) if (!isOver()) await database.on(client).rows(text, values)
    })
  await Promise.allSettled(Array.from({ length: CONNECTIONS }, warmUpConnection))
}
