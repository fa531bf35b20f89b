import pg from "pg"
import { vi } from "vitest"
import { atTheEnd } from "./scratch.ts"

/** What is sent to the server from now on, on every connection but those left out: the function or table of each statement. */
export function countedStatements(leftOut: readonly pg.Client[] = []): string[] {
  const statements: string[] = []
  const query = pg.Client.prototype.query as (...given: unknown[]) => unknown
  const spy = vi.spyOn(pg.Client.prototype, "query")
  spy.mockImplementation(function (this: pg.Client, ...given: unknown[]) {
    if (!leftOut.includes(this)) statements.push(wordsOf(given[0]))
    return query.apply(this, given)
  } as never)
  atTheEnd(() => spy.mockRestore())
  return statements
}

/** The function it calls, without its version, or the first table it names. */
function wordsOf(query: unknown): string {
  const text = typeof query === "string" ? query : (query as { text: string }).text
  return text.match(/belfry\.\w+?(?=(_\d+)?\()|pg_notify/)?.[0] ?? text.match(/belfry\.\w+/)?.[0] ?? text
}

/** A cron that is due once a day, at the instant's second. */
export function dailyAt(instant: Date): string {
  return `${instant.getUTCSeconds()} ${instant.getUTCMinutes()} ${instant.getUTCHours()} * * *`
}
