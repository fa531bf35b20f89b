/**
 * How many calls one process makes to its store in an hour, by operation. Uses virtual time, so it takes seconds.
 * `npx tsx bench/store-calls.ts`
 */
import { createScheduler, type DeclaredSchedule, defineTask, type Store, silentLogger } from "belfry"
import { createVirtualClock } from "belfry/testing"
import { createMemoryStore } from "../src/stores/memory/memory-store.ts"

const quick = defineTask({ name: "quick", run: () => undefined })

const everyMinute = (count: number): readonly DeclaredSchedule[] =>
  Array.from({ length: count }, (_, index) => quick.schedule(`s${index}`, { cron: "* * * * *" }))

console.table({
  "nothing to do": await callsInAnHour([]),
  "1 schedule each minute: 60 runs": await callsInAnHour(everyMinute(1)),
  "100 schedules each minute: 6,000 runs": await callsInAnHour(everyMinute(100)),
})

async function callsInAnHour(schedules: readonly DeclaredSchedule[]): Promise<Record<string, number>> {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1))
  const calls: Record<string, number> = {}
  const store = counted(createMemoryStore(clock), calls)
  const scheduler = createScheduler({
    store,
    clock,
    tasks: [quick],
    schedules,
    concurrency: 100,
    logger: silentLogger,
  })
  await scheduler.start()
  await turn()
  for (const name of Object.keys(calls)) delete calls[name]
  const end = clock.now() + 3_600_000
  while (clock.timeline.step(end)) await turn()
  return { ...calls }
}

function counted(store: Store, calls: Record<string, number>): Store {
  return new Proxy(store, {
    get(target, name: string) {
      calls[name] = (calls[name] ?? 0) + 1
      return Reflect.get(target, name)
    },
  })
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
