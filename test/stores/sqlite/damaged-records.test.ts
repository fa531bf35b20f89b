import { damagedRecords } from "../damaged-records.ts"
import { aPath, aStoreAndItsDatabase } from "./scratch.ts"

/** Above `Number.MAX_SAFE_INTEGER`. */
const HUGE = "9007199254740993"

damagedRecords(
  async () => {
    const { store, database } = await aStoreAndItsDatabase(aPath())
    return {
      store,
      async write(kind, id, part, value) {
        // SQLite converts the text to a number in columns of numbers.
        database.exec(`update belfry_${kind}s set ${part} = '${value}' where id = '${id}'`)
      },
    }
  },
  {
    schedule: [
      ...["definition", "overrides", "paused"],
      ...["definition = {}", "definition = []", "definition = 7", 'definition = "text"', "definition = null"],
      ...["overrides = {}", "overrides = [null]", "paused = 7"],
      ...["version", "revision", "created_at", "updated_at", "covered_until", "fired_count", "run_count"].map(
        (column) => `${column} = ${HUGE}`,
      ),
    ],
    run: [
      ...["payload", "missed", "retry", "details", "progress", "attempts"],
      ...["missed = 7", "retry = 7", "progress = []", "attempts = 7", "attempts = null", "attempts = [null]"],
      ...["priority", "attempt", "failures", "lost", "created_at", "scheduled_for", "timeout_ms"].map(
        (column) => `${column} = ${HUGE}`,
      ),
    ],
  },
)
