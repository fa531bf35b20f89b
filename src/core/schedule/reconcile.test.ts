import { assert, describe, test } from "vitest"
import { aDefinition, MADE_AT } from "../../../test/support/records.ts"
import { newSchedule } from "../options/definition.ts"
import type { ScheduleOptions } from "../options/options.ts"
import {
  changedFields,
  type Declared,
  definitionOf,
  fingerprint,
  isOverridden,
  type ReconcileDiff,
  reconcile,
} from "./reconcile.ts"
import type { Schedule } from "./schedule.ts"
import { storedSchedule } from "./stored-schedule.ts"

function declare(id: string, options: ScheduleOptions = {}, release = 1): Declared {
  return { id, definition: aDefinition(options, { id, owner: "app", release }) }
}

/** The schedule as it was stored when code declared it. */
function stored({ id, definition }: Declared, fields: Partial<Schedule> = {}): Schedule {
  const schedule = { ...newSchedule(id, definition, MADE_AT), declaredAs: fingerprint(definition) }
  return { ...storedSchedule(schedule, 1), ...fields }
}

const byApp = { owner: "app", release: 1, prune: true }

function ids(diff: ReconcileDiff) {
  return Object.fromEntries(
    Object.entries(diff)
      .map(([kind, entries]) => [
        kind,
        entries.map((entry: string | { id: string }) => (typeof entry === "string" ? entry : entry.id)),
      ])
      .filter(([, found]) => found!.length > 0),
  )
}

describe("reconcile", () => {
  test("a schedule declared for the first time is created", () => {
    assert.deepEqual(ids(reconcile([], [declare("a")], byApp)), { created: ["a"] })
  })

  test("a schedule declared with the same definition is unchanged", () => {
    const declared = declare("a")

    assert.deepEqual(ids(reconcile([stored(declared)], [declared], byApp)), { unchanged: ["a"] })
  })

  test("a schedule declared with another definition is updated, and the diff names the changed fields", () => {
    const before = stored(declare("a"))

    const diff = reconcile([before], [declare("a", { cron: "5 * * * *", priority: "high" })], byApp)

    assert.deepEqual(ids(diff), { updated: ["a"] })
    assert.deepEqual(diff.updated[0]?.fields, ["triggers", "priority"])
    assert.equal(diff.updated[0]?.stored, before)
  })

  test("for the same definition from a newer release only the release is releaseRaised", () => {
    const diff = reconcile([stored(declare("a"))], [declare("a", {}, 2)], { ...byApp, release: 2 })

    assert.deepEqual(ids(diff), { releaseRaised: ["a"] })
  })

  test("a schedule that is no longer declared is pruned", () => {
    const diff = reconcile([stored(declare("a")), stored(declare("b"))], [declare("b")], byApp)

    assert.deepEqual(ids(diff), { unchanged: ["b"], pruned: ["a"] })
  })

  test("without `prune` nothing is pruned", () => {
    assert.deepEqual(ids(reconcile([stored(declare("a"))], [], { ...byApp, prune: false })), {})
  })

  test("an operator's change stays while the declared definition is the same", () => {
    const overridden = stored(declare("a"), { priority: 99 })

    assert.deepEqual(ids(reconcile([overridden], [declare("a")], byApp)), { unchanged: ["a"] })
    assert.isTrue(isOverridden(overridden))
  })

  test("an operator's change is overwritten when the declared definition changes", () => {
    const overridden = stored(declare("a"), { priority: 99 })

    const diff = reconcile([overridden], [declare("a", { tags: ["x"] })], byApp)

    assert.deepEqual(diff.updated[0]?.fields, ["priority", "tags"])
  })

  test("an older release neither changes nor prunes schedules", () => {
    const existing = [stored(declare("a", {}, 5)), stored(declare("b", {}, 5))]

    const diff = reconcile(existing, [declare("a", { priority: 3 }, 4)], { ...byApp, release: 4 })

    const why = 'release 5 of "app" is already stored; this is release 4'
    assert.deepEqual(diff.refused, [{ id: "a", why }])
    const { created, updated, releaseRaised, unchanged, pruned } = diff
    assert.deepEqual([created, updated, releaseRaised, unchanged, pruned], [[], [], [], [], []])
  })

  test.each([
    [
      "other",
      'a schedule with this id belongs to "other"; delete it, and the next start creates it again, or declare it for that owner',
    ],
    [null, "a schedule with this id was made by hand; delete it, and the next start creates it again"],
  ])("a schedule whose owner is %s is refused and never changed", (owner, why) => {
    const diff = reconcile([stored(declare("a"), { owner })], [declare("a", { priority: 3 })], byApp)

    assert.deepEqual(ids(diff), { refused: ["a"] })
    assert.equal(diff.refused[0]?.why, why)
  })

  test("schedules of another owner are not pruned, and their releases are ignored", () => {
    const other = stored(declare("b", {}, 9), { owner: "other" })

    assert.deepEqual(ids(reconcile([other], [declare("a")], byApp)), { created: ["a"] })
  })
})

describe("fingerprints", () => {
  test("a fingerprint doesn't depend on the order of keys", () => {
    const definition = aDefinition({}, { payload: { a: 1, b: { c: 2, d: 3 } } })
    const reversed = Object.fromEntries(Object.entries(definition).reverse()) as unknown as typeof definition
    const payload = { b: { d: 3, c: 2 }, a: 1 }

    assert.equal(fingerprint({ ...reversed, payload }), fingerprint(definition))
  })

  test("a fingerprint doesn't depend on the release", () => {
    assert.equal(fingerprint(aDefinition({}, { release: 9 })), fingerprint(aDefinition()))
  })

  test("a fingerprint is the same after the definition was stored as JSON", () => {
    const definition = aDefinition({ retry: { attempts: 2 }, tags: ["x"] })

    assert.equal(fingerprint(JSON.parse(JSON.stringify(definition))), fingerprint(definition))
  })

  test("a fingerprint changes when any other field changes", () => {
    const { release: _, ...definition } = EVERY_FIELD
    const prints = Object.keys(definition).map((key) => fingerprint({ ...aDefinition(), [key]: "changed" }))

    assert.equal(new Set([...prints, fingerprint(aDefinition())]).size, prints.length + 1)
  })

  test("a fingerprint has two different hashes of 32 bits, because one alone could match by chance", () => {
    const halves = fingerprint(aDefinition()).split("-")

    assert.equal(halves.length, 2)
    assert.notEqual(halves[0], halves[1])
  })
})

/** No field has its default, so a field that some function omits can't be equal by chance. */
const EVERY_FIELD = aDefinition(
  {
    triggers: [{ cron: "1 2 * * *", dayMatch: "both" }, { every: "1h", anchor: MADE_AT }, { at: MADE_AT }],
    timezone: "Europe/Berlin",
    dst: { gap: "skip", overlap: "both" },
    priority: 3,
    jitter: "1s",
    spacing: "2s",
    startsAt: MADE_AT,
    endsAt: MADE_AT + 1,
    maxRuns: 4,
    removeWhenFinished: true,
    catchUp: { policy: "all", grace: "3s", window: "4s", limit: 5 },
    overlap: { policy: "queue", limit: 6 },
    maxConcurrentRuns: 7,
    dependsOn: [{ schedule: "import", within: "8s" }],
    retry: { attempts: 9 },
    timeout: "10s",
    enabled: false,
    tags: ["x"],
    description: "all of it",
  },
  { payload: { a: 1 }, owner: "app", release: 11 },
)

test("the definition of a schedule has exactly the defined fields", () => {
  assert.deepEqual(definitionOf(newSchedule("a", EVERY_FIELD, MADE_AT)), EVERY_FIELD)
})

test("changedFields compares every field except the release", () => {
  const plain = aDefinition()
  const { release: _, ...compared } = EVERY_FIELD

  assert.sameMembers(
    [...changedFields(plain, EVERY_FIELD)],
    Object.keys(compared).filter((key) => key !== "task"),
  )
  assert.deepEqual(changedFields(plain, { ...plain, release: 9, task: "other" }), ["task"])
})

test("a schedule that code didn't declare is never overridden", () => {
  assert.isFalse(isOverridden(stored(declare("a"), { declaredAs: null, priority: 99 })))
  assert.isFalse(isOverridden(stored(declare("a"))))
})
