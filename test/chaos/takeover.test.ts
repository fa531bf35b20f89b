import assert from "node:assert/strict"
import { afterEach, describe, test } from "vitest"
import { aRun } from "../../src/store/laws/factories.ts"
import { killPrograms, startProgram, until } from "../support/child-programs.ts"
import { silentAttempts } from "./ledger.ts"
import { PLACES, type Place } from "./place.ts"
import { storeAt } from "./store-at.ts"

/** A real process is killed while it performs a run. Only the order of events is checked, not how long anything takes. */

let place: Place | null = null

afterEach(async () => {
  killPrograms()
  await place?.close()
  place = null
})

describe.each(Object.entries(PLACES))("on %s", (_name, openPlace) => {
  test("a run whose process is killed with -9 is finished by another process, and its lost attempt is recorded", async () => {
    place = await openPlace()
    const store = storeAt(place.address)
    await store.open()
    const run = aRun({ task: "endless" })
    await store.enqueue([run])
    const first = start(place, "first")
    await until(() => first.lines.some(({ what }) => what === "begun"), "the first begins the run")

    first.process.kill("SIGKILL")
    await first.ended
    const second = start(place, "second")
    await until(() => second.lines.some(({ what }) => what === "ended"), "the second ends the run")
    // The process prints this just before it stores the end. A stopped scheduler has stored all ends.
    second.process.kill("SIGTERM")
    assert.equal(await second.ended, 0)

    const [stored] = await store.readRuns([run.id])
    await store.close()
    assert.equal(stored!.state, "succeeded")
    assert.equal(
      silentAttempts({ attempts: stored!.attempts.slice(0, 1) }),
      1,
      "the killed attempt is recorded",
    )
    const outcomes = stored!.attempts.map(({ outcome }) => outcome)
    assert.deepEqual(
      [outcomes.at(-1), outcomes.filter((each) => each === "succeeded").length],
      ["succeeded", 1],
    )
  })
})

interface Line {
  readonly what: string
}

function start({ address }: Place, name: string) {
  const started = startProgram(new URL("scheduler.ts", import.meta.url), [address, name, "endless"])
  return { ...started, lines: started.lines as readonly Line[] }
}
