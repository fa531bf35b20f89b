import { freshPrefix } from "../../support/redis-prefix.ts"
import { DAMAGES, damagedFields } from "../damaged-fields.ts"
import { aClient, anOpenStore } from "./scratch.ts"

const { url } = freshPrefix()
/** JSON that is not a valid description of a worker. */
const ABOUT_DAMAGES = ["host", "pid", "tasks", "slots", "state"].flatMap((name) =>
  [null, 7, "x", [null], [7], {}].map((value) => JSON.stringify({ [name]: value })),
)

let client: ReturnType<typeof aClient>

damagedFields(
  async () => {
    const place = freshPrefix()
    const store = await anOpenStore(place)
    client = aClient(url)
    return {
      store,
      async write(kind, id, field, value) {
        const key = `{${place.prefix}}:${kind}s:${id}`
        if (value === null) await client.hdel(key, field)
        else await client.hset(key, field, value)
        return true
      },
    }
  },
  {
    schedule: [
      ...["version", "definition", "progress", "run_count", "last_run", "last_run_id", "next_run", "task"],
      ...["owner", "tags", "enabled"],
    ],
    run: [
      ...[
        "state",
        "task",
        "created_at",
        "triggered_by",
        "payload",
        "priority",
        "attempt",
        "failures",
        "lost",
      ],
      ...[
        "worker_id",
        "due_at",
        "started_at",
        "completed_at",
        "outcome",
        "schedule_id",
        "scheduled_for",
        "single",
      ],
      ...[
        "live_key",
        "concurrency_key",
        "concurrency_limit",
        "further",
        "message",
        "details",
        "error",
        "progress",
      ],
      ...["confirmed_attempt", "more"],
    ],
    worker: ["about", "started_at", "heartbeat_at", "running"],
  },
  (field) => (field === "about" ? [...DAMAGES, ...ABOUT_DAMAGES] : DAMAGES),
)
