import assert from "node:assert/strict"
import { test } from "vitest"
import { SCHEDULE_SPANS, SPANS } from "../../src/core/records/statistics.ts"
import { memory } from "../../src/index.ts"
import { aHeartbeat, aSchedule, aWorker } from "../../src/store/laws/factories.ts"
import type { Store } from "../../src/store/store.ts"
import { terminal } from "./support.ts"

test("doctor reports a schedule whose runs last longer than the time between its occurrences", async () => {
  const store: Store = { ...memory(), close: async () => undefined }
  await store.open()
  const triggers = [{ kind: "cron", cron: "* * * * *", dayMatch: "either" }] as const
  await store.putSchedule(aSchedule({ id: "overrun", triggers, nextRunAt: Date.now() + 60_000 }), null)
  // Thirty runs that lasted between 100 and 200 seconds.
  const counted = { agoMs: 0, counters: { succeeded: 30, durationMs: 4_500_000, "duration:200000": 30 } }
  const additions = [
    { subject: "schedule:overrun", spans: SCHEDULE_SPANS, ...counted },
    { subject: `task:${aSchedule().task}`, spans: SPANS, ...counted },
  ]
  await store.heartbeat(aHeartbeat({ worker: aWorker(), statistics: { number: 1, additions } }))
  const shell = terminal({ isTerminal: true, openStore: () => store })

  const { out } = await shell.run("doctor")

  assert.match(out, /! lints +overrun may contain mistakes \(L07\)/)
})
