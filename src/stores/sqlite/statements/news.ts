import type { Hint } from "../../../store/store.ts"
import { TOLD, type Told } from "../../kit/told.ts"
import type { Prepared } from "../prepared.ts"

/** How often each hint was due: what other processes compare to learn whether a commit concerns them. */

export type News = Readonly<Record<Told, number>>

const ADD_NEWS = `
  update belfry_meta
  set ${TOLD.map((hint) => `${hint}_news = ${hint}_news + ?`).join(", ")}`

const SELECT_NEWS = `
  select ${TOLD.map((hint) => `${hint}_news as ${hint}`).join(", ")}
  from belfry_meta`

export function addNews(connection: Prepared, hints: readonly Hint[]): void {
  const count = (hint: Hint) => (hints.includes(hint) ? 1 : 0)
  connection.prepare(ADD_NEWS).run(...TOLD.map(count))
}

export function readNews(connection: Prepared): News {
  return connection.prepare(SELECT_NEWS).get() as News
}
