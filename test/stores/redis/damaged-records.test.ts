import { damagedRecords } from "../damaged-records.ts"
import { aFreshStore } from "./scratch.ts"

damagedRecords(
  async () => {
    const { store, client, prefix } = await aFreshStore()
    return {
      store,
      async write(kind, id, part, value) {
        await client.hset(`${prefix}:${kind}s:${id}`, part, value)
      },
    }
  },
  { schedule: ["definition", "progress"], run: ["payload", "more", "concurrency_limit"] },
)
