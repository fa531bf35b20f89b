import { assert, describe, test } from "vitest"
import { thrownBy } from "../../../test/support/records.ts"
import { MINUTE } from "../time/instant.ts"
import { checked, type OptionPath, type OptionType } from "./checked.ts"
import { LOOKUP, RUN_ID, SCHEDULE_ID, TASK_NAME, taskOr } from "./limits.ts"
import {
  address,
  asGiven,
  callback,
  choice,
  duration,
  instant,
  integer,
  list,
  objectWith,
  payload,
  record,
  remark,
  required,
  shortOr,
  text,
  unread,
} from "./option-types.ts"

const PLACE: OptionPath = { source: { code: "BELFRY_RUN_INVALID", subject: "enqueue" }, option: "given" }

const messageOf = (kind: OptionType<unknown>, value: unknown) =>
  thrownBy(() => kind.read(value, PLACE)).message

const OVERLAP = shortOr("policy", { policy: required(choice("skip", "queue")), limit: integer(1, 2) })

describe("the description of the allowed values", () => {
  test.each([
    [duration(), "a duration"],
    [duration({ min: 1 }), "a duration of at least 1ms"],
    [duration({ max: MINUTE }), "a duration of at most 1m"],
    [duration({ min: 1, max: MINUTE }), "a duration from 1ms to 1m"],
    [choice("one"), '"one"'],
    [choice("one", "two", "three"), '"one", "two" or "three"'],
    [list(text({ min: 0, max: 5 }), { min: 1, max: 2 }), "a list of 1 to 2, each text of 0 to 5 characters"],
    [record({ limit: duration(), key: LOOKUP }), "an object with limit, key"],
    [OVERLAP, '"skip" or "queue", or an object with policy, limit'],
    [instant, "an instant"],
    [address, "the address of a server"],
    [remark, "text; cut after 8192 bytes"],
    [payload, "a value that the task's schema accepts, at most 1 MiB as JSON, 64 levels and 10000 keys"],
  ])("the kind %j is described as %s", (kind, words) => {
    assert.equal(kind.allowed, words)
  })
})

describe("names and ids", () => {
  test.each([
    ["a task", TASK_NAME, "mail.send:v2/to_all-users"],
    ["a schedule", SCHEDULE_ID, "Nightly_report-2"],
    ["a run", RUN_ID, "report@2026-03-10T08:00:00Z~2+x/y_z.1"],
  ])("the name of %s is accepted with all its allowed characters", (_, kind, name) => {
    assert.equal(kind.read(name, PLACE), name)
  })

  test.each([
    ["a task", TASK_NAME, 200],
    ["a schedule", SCHEDULE_ID, 200],
    ["a run", RUN_ID, 300],
  ])("the name of %s has a maximum length", (_, kind, max) => {
    assert.equal(kind.read("x".repeat(max), PLACE), "x".repeat(max))
    assert.match(messageOf(kind, "x".repeat(max + 1)), /^enqueue: given is "x+…"; use 1 to/)
  })

  test.each([
    ["a task", TASK_NAME, "send mail"],
    ["a schedule", SCHEDULE_ID, "report@1"],
    ["a run", RUN_ID, "report 1"],
  ])("the name of %s is refused with any other character at any position", (_, kind, name) => {
    for (const wrong of [name, `!${name.replace(/[ @]/, "")}`, `${name.replace(/[ @]/, "")}!`])
      assert.match(messageOf(kind, wrong), /^enqueue: given is ".*"; use 1 to/)
  })

  test("a number is refused as a name, even if its digits would be a valid name", () => {
    assert.match(messageOf(TASK_NAME, 5), /^enqueue: given is 5; use 1 to 200 letters/)
  })

  test("where a task name is expected, a task is accepted and its name is used", () => {
    const kind = taskOr(TASK_NAME)

    assert.equal(kind.read("send", PLACE), "send")
    assert.equal(kind.read({ name: "send", run: () => 1 }, PLACE), "send")
    assert.match(messageOf(kind, { name: " ", run: () => 1 }), /^enqueue: given is " "; use 1 to 200/)
    for (const other of [{}, null, { name: "send" }, new Error("send")])
      assert.match(messageOf(kind, other), /^enqueue: given is (an object|null); use a task, or its name: 1/)
  })
})

describe("objects with required methods", () => {
  const CLOCK = objectWith<{ now(): number; sleep(): void }>(["now", "sleep"], "a clock")

  test("the methods may be the object's own or its class's", () => {
    class Clock {
      now = () => 0
      sleep() {}
    }
    const clock = new Clock()

    assert.equal(CLOCK.read(clock, PLACE), clock)
  })

  test.each([{ now: 1 }, null, undefined, "clock", () => 0])(
    "an object without all of the methods is refused: %j",
    (value) => {
      assert.match(messageOf(CLOCK, value), /^enqueue: given is .*; use a clock\.$/)
    },
  )
})

describe("addresses", () => {
  test("an address is text and is stored unchanged", () => {
    assert.equal(address.read("redis://:secret@host", PLACE), "redis://:secret@host")
  })

  test.each(["", "redis://:secret\0@host", "redis://:secret\ud800@host", 5, { password: "secret" }])(
    "an invalid address is refused without showing its value: %j",
    (value) => {
      const error = thrownBy(() => address.read(value, PLACE))

      assert.equal(error.message, "enqueue: given is not the address of a server.")
      assert.deepEqual(error.details, { option: "given" })
    },
  )
})

describe("objects of options", () => {
  const RECORD = record({ limit: integer(1, 2) })

  test.each([5, "limit", null, []])("a value that isn't an object is refused: %j", (value) => {
    assert.match(
      messageOf(list(RECORD, { max: 1 }), [value]),
      /^enqueue: given\[0\] is .*; use an object with/,
    )
  })

  test("a list of such objects has their table of options, for the reference", () => {
    assert.equal(list(RECORD, { max: 1 }).table, RECORD.table)
    assert.notProperty(list(choice("one"), { max: 1 }), "table")
  })

  test("a list is refused where an object or its short form is expected", () => {
    assert.match(messageOf(OVERLAP, ["skip"]), /^enqueue: given is a list of 1; use "skip" or "queue", or an/)
  })
})

test("an option that is passed on unchanged is checked first", () => {
  const kind = asGiven(duration())

  assert.equal(kind.read("1m", PLACE), "1m")
  assert.match(messageOf(kind, "soon"), /which is not a duration/)
})

test("a callback must be a function", () => {
  const call = () => 0

  assert.equal(callback().read(call, PLACE), call)
  assert.equal(messageOf(callback(), "call"), 'enqueue: given is "call"; use a function.')
})

test("a payload is passed on unchanged, and null is a payload", () => {
  const table = { payload, key: LOOKUP }

  assert.deepEqual(checked({ payload: null, key: null }, table, PLACE.source), {
    payload: null,
    key: undefined,
  })
  assert.deepEqual(checked({ payload: [1] }, table, PLACE.source), { payload: [1], key: undefined })
})

test("an option that is checked elsewhere is passed on, and if it is required and missing, the error refers to its guide", () => {
  const error = thrownBy(() => checked({}, { argv: required(unread) }, PLACE.source))

  assert.equal(unread.read("as it is", PLACE), "as it is")
  assert.equal(error.message, "enqueue: argv is undefined; use the values described in its guide.")
})
