import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Instant } from "../../src/core/time/instant.ts"

/** The contents of a store after a chaos test, read with the database's own client and not by Belfry. */
export interface Ledger {
  readonly runs: readonly LedgerRun[]
  /** When each schedule is next due. */
  readonly nextRunAt: ReadonlyMap<string, Instant>
  /** Faults that only this kind of store can have: a damaged file, an index entry without its run. */
  readonly faults: readonly string[]
}

export interface LedgerRun {
  readonly id: string
  readonly scheduleId: string
  readonly scheduledFor: Instant
  readonly state: string
  readonly attempt: number
  /** How many occurrences the run stands for, including its own. */
  readonly standsFor: number
  /** Each attempt that has ended, oldest first. */
  readonly attempts: readonly {
    readonly attempt: number
    readonly workerId: string
    readonly outcome: string
  }[]
}

/** The number of attempts whose worker became silent, whether or not a heartbeat had confirmed them. */
export function silentAttempts({
  attempts,
}: {
  readonly attempts: readonly { readonly outcome: string }[]
}): number {
  return attempts.filter(({ outcome }) => outcome === "lost" || outcome === "unconfirmed").length
}

/** Every run has succeeded or was skipped, and each of its attempts has ended once. */
export function assertEnded({ runs, faults }: Ledger): void {
  assert.deepEqual(faults, [])
  for (const { id, state, attempt, attempts } of runs) {
    assert.ok(state === "succeeded" || state === "skipped", `${id} is ${state}`)
    assert.deepEqual(
      attempts.map((each) => each.attempt),
      Array.from({ length: attempt }, (_, index) => index + 1),
      `each attempt of ${id} has ended, once`,
    )
    const succeeded = attempts.filter(({ outcome }) => outcome === "succeeded")
    assert.equal(succeeded.length, state === "succeeded" ? 1 : 0, `${id} has succeeded once`)
  }
}

/** Each second from `anchor` until a schedule's next run has one record: its own, or a record that stands for several. */
export function assertOneRecordEach({ runs, nextRunAt }: Ledger, anchor: Instant): void {
  for (const [scheduleId, next] of nextRunAt) {
    const own = runs.filter((run) => run.scheduleId === scheduleId)
    const seconds = (next - anchor) / 1_000
    assert.ok(seconds >= 1, `${scheduleId} went on for ${seconds} seconds`)
    assert.equal(
      new Set(own.map(({ scheduledFor }) => scheduledFor)).size,
      own.length,
      `${scheduleId} has no instant twice`,
    )
    assert.equal(
      own.reduce((total, { standsFor }) => total + standsFor, 0),
      seconds,
      `${scheduleId} has one record for each second`,
    )
  }
}

/** The attempts that the processes wrote to their files, as given and as finished, agree with the ledger. */
export function assertWitnessed({ runs }: Ledger, folder: string): void {
  const known = new Map(
    runs.flatMap(({ id, attempts }) => attempts.map((each) => [`${id} ${each.attempt}`, each])),
  )
  const [given, finished] = [new Set<string>(), new Set<string>()]
  for (const line of witnessed(folder)) {
    const [what, id, attempt, name] = line.split(" ") as [string, string, string, string]
    const key = `${id} ${attempt}`
    assert.equal(known.get(key)?.workerId, name, `attempt ${key} belongs to ${name}`)
    if (what === "given") {
      assert.ok(!given.has(key), `attempt ${key} is given once`)
      given.add(key)
    } else {
      assert.ok(!finished.has(id), `${id} is finished once`)
      assert.equal(known.get(key)?.outcome, "succeeded")
      finished.add(id)
    }
  }
  assert.ok(finished.size > 0, "the processes finished at least one run")
}

function witnessed(folder: string): readonly string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".witness"))
  return files
    .flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n"))
    .filter((line) => line !== "")
}
