import { damagedRecords } from "../damaged-records.ts"
import { aFreshStore } from "./scratch.ts"

damagedRecords(
  async () => {
    const { store, client, prefix } = await aFreshStore()
    return {
      store,
      async damage(kind, id, part) {
        await client.hset(`${prefix}:${kind}s:${id}`, part, "{damaged")
      },
    }
  },
  { schedule: ["definition", "progress"], run: ["payload", "more", "concurrency_limit"] },
)
