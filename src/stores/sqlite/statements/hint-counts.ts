import type { Hint } from "../../../store/store.ts"
import { SHARED_HINTS, type SharedHint } from "../../kit/shared-hints.ts"
import type { Prepared } from "../prepared.ts"

/** How often each hint was sent. Other processes compare these counts to see which hints a commit brings. */

export type HintCounts = Readonly<Record<SharedHint, number>>

const ADD_HINT_COUNTS = `
  update belfry_meta
  set ${SHARED_HINTS.map((hint) => `${hint}_news = ${hint}_news + ?`).join(", ")}`

const SELECT_HINT_COUNTS = `
  select ${SHARED_HINTS.map((hint) => `${hint}_news as ${hint}`).join(", ")}
  from belfry_meta`

export function addHintCounts(connection: Prepared, hints: readonly Hint[]): void {
  const count = (hint: Hint) => (hints.includes(hint) ? 1 : 0)
  connection.prepare(ADD_HINT_COUNTS).run(...SHARED_HINTS.map(count))
}

export function readHintCounts(connection: Prepared): HintCounts {
  return connection.prepare(SELECT_HINT_COUNTS).get() as HintCounts
}
