import type { Database } from "./database.ts"
import { CLAIM } from "./statements/claiming.ts"
import { SELECT_DUE } from "./statements/due.ts"
import { FIRE, NO_PLANS } from "./statements/firing.ts"
import { CHANGE_RUNS, NO_CHANGES } from "./statements/transition.ts"

/** As many as a process that fires and works uses at once. */
const CONNECTIONS = 3

/** What the loops ask for, about nothing: a read of no schedules takes no share. */
const CALLS: readonly (readonly [text: string, values: readonly unknown[]])[] = [
  [SELECT_DUE, [0, 1, 0, 0]],
  [FIRE, NO_PLANS],
  [CLAIM, ["", [], [], 1]],
  [CHANGE_RUNS, NO_CHANGES],
]

/**
 * Lets connections plan what they will be asked for. A connection's first call of each kind takes some milliseconds longer,
 * and without this they would all fall on the first instant at which something is due.
 */
export async function rehearse(database: Database, isOver: () => boolean): Promise<void> {
  const one = () =>
    database.withClient(async (client) => {
      for (const [text, values] of CALLS) if (!isOver()) await database.on(client).rows(text, values)
    })
  await Promise.allSettled(Array.from({ length: CONNECTIONS }, one))
}
