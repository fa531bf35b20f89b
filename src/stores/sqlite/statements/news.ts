import type { Hint } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"

/** How often each hint was due: what other processes compare to learn whether a commit concerns them. */

/** A file that was replaced by an older one is another file: nobody tells of that. */
export type Told = Exclude<Hint, "forgotten">

export type News = Readonly<Record<Told, number>>

const ADD_NEWS = `
  update belfry_meta
  set schedules_news = schedules_news + ?,
    runs_news = runs_news + ?,
    cancelled_news = cancelled_news + ?`

const SELECT_NEWS = `
  select schedules_news as schedules, runs_news as runs, cancelled_news as cancelled
  from belfry_meta`

export function addNews(connection: Connection, hints: readonly Hint[]): void {
  const count = (hint: Hint) => (hints.includes(hint) ? 1 : 0)
  connection.prepare(ADD_NEWS).run(count("schedules"), count("runs"), count("cancelled"))
}

export function readNews(connection: Connection): News {
  return connection.prepare(SELECT_NEWS).get() as News
}
