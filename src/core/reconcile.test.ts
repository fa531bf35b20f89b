import { assert, describe, test } from "vitest"
import { aDefinition, MADE_AT } from "../../test/support/records.ts"
import { newSchedule } from "./definition.ts"
import type { ScheduleOptions } from "./options.ts"
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

function declare(id: string, options: ScheduleOptions = {}, release = 1): Declared {
  return { id, definition: aDefinition(options, { id, owner: "app", release }) }
}

/** As it was stored when code declared it. */
function stored({ id, definition }: Declared, fields: Partial<Schedule> = {}): Schedule {
  return { ...newSchedule(id, definition, MADE_AT), declaredAs: fingerprint(definition), ...fields }
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
  test("what is declared for the first time is created", () => {
    assert.deepEqual(ids(reconcile([], [declare("a")], byApp)), { created: ["a"] })
  })

  test("what is declared as before is untouched", () => {
    const declared = declare("a")

    assert.deepEqual(ids(reconcile([stored(declared)], [declared], byApp)), { unchanged: ["a"] })
  })

  test("what is declared otherwise is updated, and says in which fields", () => {
    const before = stored(declare("a"))

    const diff = reconcile([before], [declare("a", { cron: "5 * * * *", priority: "high" })], byApp)

    assert.deepEqual(ids(diff), { updated: ["a"] })
    assert.deepEqual(diff.updated[0]?.fields, ["triggers", "priority"])
    assert.equal(diff.updated[0]?.stored, before)
  })

  test("the same from a newer release is only noted", () => {
    const diff = reconcile([stored(declare("a"))], [declare("a", {}, 2)], { ...byApp, release: 2 })

    assert.deepEqual(ids(diff), { noted: ["a"] })
  })

  test("what is no longer declared is pruned", () => {
    const diff = reconcile([stored(declare("a")), stored(declare("b"))], [declare("b")], byApp)

    assert.deepEqual(ids(diff), { unchanged: ["b"], pruned: ["a"] })
  })

  test("nothing is pruned unless that is asked for", () => {
    assert.deepEqual(ids(reconcile([stored(declare("a"))], [], { ...byApp, prune: false })), {})
  })

  test("an operator's change stays while the code says what it said", () => {
    const overridden = stored(declare("a"), { priority: 99 })

    assert.deepEqual(ids(reconcile([overridden], [declare("a")], byApp)), { unchanged: ["a"] })
    assert.isTrue(isOverridden(overridden))
  })

  test("an operator's change goes when the code itself changes", () => {
    const overridden = stored(declare("a"), { priority: 99 })

    const diff = reconcile([overridden], [declare("a", { tags: ["x"] })], byApp)

    assert.deepEqual(diff.updated[0]?.fields, ["priority", "tags"])
  })

  test("an older release changes nothing, and prunes nothing", () => {
    const there = [stored(declare("a", {}, 5)), stored(declare("b", {}, 5))]

    const diff = reconcile(there, [declare("a", { priority: 3 }, 4)], { ...byApp, release: 4 })

    const why = 'release 5 of "app" is already there; this is 4'
    assert.deepEqual(diff.refused, [{ id: "a", why }])
    const { created, updated, noted, unchanged, pruned } = diff
    assert.deepEqual([created, updated, noted, unchanged, pruned], [[], [], [], [], []])
  })

  test.each([
    [
      "other",
      'a schedule of this id belongs to "other"; delete that one, and the next start makes it anew, or declare it for that owner',
    ],
    [null, "a schedule of this id was made by hand; delete that one, and the next start makes it anew"],
  ])("a schedule of %s is never touched", (owner, why) => {
    const diff = reconcile([stored(declare("a"), { owner })], [declare("a", { priority: 3 })], byApp)

    assert.deepEqual(ids(diff), { refused: ["a"] })
    assert.equal(diff.refused[0]?.why, why)
  })

  test("another owner's schedules are not pruned, and its releases don't matter", () => {
    const other = stored(declare("b", {}, 9), { owner: "other" })

    assert.deepEqual(ids(reconcile([other], [declare("a")], byApp)), { created: ["a"] })
  })
})

describe("a fingerprint", () => {
  test("is the same whatever the order of the keys", () => {
    const definition = aDefinition({}, { payload: { a: 1, b: { c: 2, d: 3 } } })
    const reversed = Object.fromEntries(Object.entries(definition).reverse()) as unknown as typeof definition
    const payload = { b: { d: 3, c: 2 }, a: 1 }

    assert.equal(fingerprint({ ...reversed, payload }), fingerprint(definition))
  })

  test("doesn't depend on the release", () => {
    assert.equal(fingerprint(aDefinition({}, { release: 9 })), fingerprint(aDefinition()))
  })

  test("survives being stored as JSON", () => {
    const definition = aDefinition({ retry: { attempts: 2 }, tags: ["x"] })

    assert.equal(fingerprint(JSON.parse(JSON.stringify(definition))), fingerprint(definition))
  })

  test("differs whenever any field does", () => {
    const { release: _, ...definition } = EVERY_FIELD
    const prints = Object.keys(definition).map((key) => fingerprint({ ...aDefinition(), [key]: "changed" }))

    assert.equal(new Set([...prints, fingerprint(aDefinition())]).size, prints.length + 1)
  })

  test("has two halves, so that a chance match of 32 bits is not enough", () => {
    const halves = fingerprint(aDefinition()).split("-")

    assert.equal(halves.length, 2)
    assert.notEqual(halves[0], halves[1])
  })
})

/** Nothing at its default: a field forgotten somewhere can't look right by chance. */
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

test("the definition of a schedule is every field that was defined, and nothing else", () => {
  assert.deepEqual(definitionOf(newSchedule("a", EVERY_FIELD, MADE_AT)), EVERY_FIELD)
})

test("every field is compared, but for the release", () => {
  const plain = aDefinition()
  const { release: _, ...compared } = EVERY_FIELD

  assert.sameMembers(
    [...changedFields(plain, EVERY_FIELD)],
    Object.keys(compared).filter((key) => key !== "task"),
  )
  assert.deepEqual(changedFields(plain, { ...plain, release: 9, task: "other" }), ["task"])
})

test("a schedule made by hand is never overridden", () => {
  assert.isFalse(isOverridden(stored(declare("a"), { declaredAs: null, priority: 99 })))
  assert.isFalse(isOverridden(stored(declare("a"))))
})
