import type { Cron } from "../core/cron/cron.ts"
import { describeCron } from "../core/cron/describe.ts"
import { parsed } from "./parsed.ts"

/** The expression in English, in its own time zone: `At 09:00 on Monday`. */
export function describe(cron: Cron): string {
  return describeCron(parsed(cron, "describe"))
}
