import { damagedRecords } from "../damaged-records.ts"
import { aPath, aStoreAndItsDatabase } from "./scratch.ts"

damagedRecords(
  async () => {
    const { store, database } = await aStoreAndItsDatabase(aPath())
    return {
      store,
      async damage(kind, id, part) {
        database.prepare(`update belfry_${kind}s set ${part} = '{damaged' where id = ?`).run(id)
      },
    }
  },
  {
    schedule: ["definition", "overrides", "paused"],
    run: ["payload", "missed", "retry", "details", "progress", "attempts"],
  },
)
