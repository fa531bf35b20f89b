import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, test } from "vitest"
import { finishRest, putSchedules } from "../support/busy-schedules.ts"
import { killPrograms, type Program, startProgram, stopProgram, until } from "../support/child-programs.ts"
import { assertEnded, assertOneRecordEach, assertWitnessed, silentAttempts } from "./ledger.ts"
import { PLACES, type Place } from "./place.ts"
import { storeAt } from "./store-at.ts"

/**
 * Several processes on one store. Processes are killed at random during their work, and so is the server. The outcome is read
 * with the database's own client, and from files that the processes wrote.
 */

const WRITERS = 8
const SCHEDULES = 80
const FOR_MS = 25_000
const KILLED_MIN = 8
const SERVER_KILLED = 3

let folder: string
let place: Place | null = null

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "belfry-witness-"))
})
afterEach(async () => {
  killPrograms()
  await place?.close()
  place = null
  rmSync(folder, { recursive: true, force: true })
})

describe.each(Object.entries(PLACES))("on %s", (_name, openPlace) => {
  test("if writers and the server are killed at random, no attempt is given twice and no run is lost", async () => {
    place = await openPlace()
    const store = storeAt(place.address)
    const anchor = await putSchedules(store, SCHEDULES)

    const { killed, serverKilled, reports } = await killForAWhile(place)
    await finishRest(store)
    await store.close()

    const ledger = await place.ledger()
    const lost = ledger.runs.reduce((total, run) => total + silentAttempts(run), 0)
    console.log(JSON.stringify({ killed, serverKilled, runs: ledger.runs.length, lost, reports }))
    assert.ok(lost >= Math.floor(killed / 2), `${lost} runs were lost by ${killed} killed processes`)
    for (const { forgotten } of reports) assert.equal(forgotten, 0, "no store reports a loss")
    assert.equal(ledger.nextRunAt.size, SCHEDULES)
    assertEnded(ledger)
    assertOneRecordEach(ledger, anchor)
    assertWitnessed(ledger, folder)
  })
})

interface Report {
  readonly faults: number
  readonly finished: number
  readonly forgotten: number
}

async function killForAWhile({ address, killServer }: Place) {
  const began = Date.now()
  const start = (name: string) => startWriter(address, name)
  const writers = Array.from({ length: WRITERS }, (_, index) => start(`w${index}`))
  let [killed, serverKilled] = [0, 0]
  // A process needs seconds to start, so each gets some seconds to work before the first is killed.
  await sleep(3_000)
  // A slow machine goes on until enough processes were killed.
  while (Date.now() - began < FOR_MS || killed < KILLED_MIN) {
    await sleep(400 + Math.random() * 600)
    if (serverKilled < SERVER_KILLED && Date.now() - began > (FOR_MS * (serverKilled + 1)) / 4) {
      await killServer?.(1_000)
      serverKilled++
    }
    const index = Math.floor(Math.random() * WRITERS)
    await kill(writers[index]!, { hasRunsInHand: killed % 2 === 1 })
    killed++
    writers[index] = start(`w${index}-${killed}`)
  }
  const reports = (await Promise.all(writers.map(stopProgram))) as readonly Report[]
  return { killed, serverKilled: killServer === null ? 0 : serverKilled, reports }
}

function startWriter(address: string, name: string): Program {
  const file = new URL("writer.ts", import.meta.url)
  return startProgram(file, [address, name, join(folder, `${name}.witness`)])
}

async function kill(victim: Program, { hasRunsInHand }: { hasRunsInHand: boolean }): Promise<void> {
  if (hasRunsInHand) {
    victim.process.stdin!.write("hold\n")
    await until(() => victim.lines.length > 0, "a writer holds runs")
  }
  victim.process.kill("SIGKILL")
  await victim.ended
}
