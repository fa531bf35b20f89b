import pg from "pg"
import { vi } from "vitest"
import { atTheEnd } from "./scratch.ts"

/** Collects the function or table of each statement that is sent from now on, on every connection but the excluded ones. */
export function collectStatements(excluded: readonly pg.Client[] = []): string[] {
  const statements: string[] = []
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  const spy = vi.spyOn(pg.Client.prototype, "query")
  spy.mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    if (!excluded.includes(this)) statements.push(nameOf(args[0]))
    return query.apply(this, args)
  } as never)
  atTheEnd(() => spy.mockRestore())
  return statements
}

/** The function that the statement calls, without its version, or the first table that it names. */
function nameOf(query: unknown): string {
  const text = typeof query === "string" ? query : (query as { text: string }).text
  return text.match(/belfry\.\w+?(?=(_\d+)?\()|pg_notify/)?.[0] ?? text.match(/belfry\.\w+/)?.[0] ?? text
}

/** A cron that is due once a day, at the time of the instant. */
export function dailyAt(instant: Date): string {
  return `${instant.getUTCSeconds()} ${instant.getUTCMinutes()} ${instant.getUTCHours()} * * *`
}
