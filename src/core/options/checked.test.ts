import { assert, describe, test } from "vitest"
import { thrownBy } from "../../../test/support/records.ts"
import { checked, type OptionSource } from "./checked.ts"
import {
  choice,
  duration,
  flag,
  instant,
  integer,
  list,
  numberBetween,
  part,
  record,
  remark,
  required,
  shortOr,
  text,
} from "./option-types.ts"

const SOURCE: OptionSource = { code: "BELFRY_RUN_INVALID", subject: "enqueue", details: { id: "x" } }

const TABLE = {
  priority: integer(-5, 5),
  enabled: flag,
  key: text({ min: 1, max: 5 }),
  delay: duration({ min: 100, max: 1_000 }),
  at: instant,
  share: numberBetween(0, 1, "a share from 0 to 1"),
  backoff: choice("fixed", "linear"),
  tags: list(text({ min: 1, max: 3 }), { max: 2 }),
  nested: record({ limit: required(integer(1, 2)) }),
  overlap: shortOr("policy", { policy: required(choice("skip", "queue")), limit: integer(1, 2) }),
  before: part({ id: required(text({ min: 1, max: 5 })) }),
  by: remark,
}

const refusalOf = (given: unknown) => thrownBy(() => checked(given, TABLE, SOURCE))

describe("option values", () => {
  test("each value is converted to the form in which it is stored", () => {
    const given = {
      ...{ priority: -0, enabled: false, key: "abcde", delay: "1s", at: new Date(5), share: 1, tags: ["é"] },
      ...{ backoff: "fixed", nested: { limit: 2 }, overlap: "queue", before: { id: "r", more: 1 } },
      by: "Ada\0",
    }

    assert.deepEqual(checked(given, TABLE, SOURCE), {
      ...{ priority: 0, enabled: false, key: "abcde", delay: 1_000, at: 5, share: 1, tags: ["é"] },
      ...{ backoff: "fixed", nested: { limit: 2 }, overlap: { policy: "queue", limit: undefined } },
      ...{ before: { id: "r" }, by: "Ada\ufffd" },
    })
  })

  test("null and undefined mean that the option, or the whole object of options, isn't given", () => {
    const nothing = Object.fromEntries(Object.keys(TABLE).map((name) => [name, undefined]))

    for (const given of [undefined, null, {}, { key: null, nested: undefined }])
      assert.deepEqual(checked(given, TABLE, SOURCE), nothing as never)
  })

  const REFUSED: readonly (readonly [object | string | number, string])[] = [
    [{ priority: 6 }, "priority is 6; use a whole number from -5 to 5."],
    [{ priority: "1" }, 'priority is "1"; use a whole number from -5 to 5.'],
    [{ priority: 2n }, "priority is 2n; use a whole number from -5 to 5."],
    [{ enabled: "no" }, 'enabled is "no"; use true or false.'],
    [{ enabled: 0 }, "enabled is 0; use true or false."],
    [{ key: "" }, 'key is ""; use text of 1 to 5 characters.'],
    [{ key: "abcdef" }, 'key is "abcdef"; use text of 1 to 5 characters.'],
    [{ key: "\0" }, "key contains a NUL or an unpaired surrogate, which no store can keep."],
    [{ key: "\ud800" }, "key contains a NUL or an unpaired surrogate, which no store can keep."],
    [{ key: Symbol("a") }, "key is a symbol; use text of 1 to 5 characters."],
    [{ delay: "99ms" }, 'delay is "99ms"; use a duration from 100ms to 1s.'],
    [{ delay: "1001ms" }, 'delay is "1001ms"; use a duration from 100ms to 1s.'],
    [
      { delay: "soon" },
      'delay is "soon", which is not a duration. Write "90s", "15m", "1h30m" or milliseconds.',
    ],
    [{ share: Number.NaN }, "share is NaN; use a share from 0 to 1."],
    [{ backoff: "toString" }, 'backoff is "toString"; use "fixed" or "linear".'],
    [{ tags: "a" }, 'tags is "a"; use a list, each text of 1 to 3 characters.'],
    [{ tags: ["a", "b", "c"] }, "tags is a list of 3; use a list of at most 2."],
    [{ tags: ["a", 1] }, "tags[1] is 1; use text of 1 to 3 characters."],
    [{ nested: {} }, "nested.limit is undefined; use a whole number from 1 to 2."],
    [{ nested: { limit: null } }, "nested.limit is null; use a whole number from 1 to 2."],
    [{ nested: [] }, "nested is a list of 0; use an object with limit."],
    [{ overlap: "wait" }, 'overlap is "wait"; use "skip" or "queue".'],
    [{ overlap: { limit: 1 } }, 'overlap.policy is undefined; use "skip" or "queue".'],
    [{ before: { id: 5 } }, "before.id is 5; use text of 1 to 5 characters."],
    [{ by: {} }, "by is an object; use text."],
    ["all", 'options is "all"; use an object.'],
    [5, "options is 5; use an object."],
  ]

  test.each(REFUSED)("%o is refused with the option's name and the allowed values", (given, problem) => {
    assert.equal(refusalOf(given).message, `enqueue: ${problem}`)
  })

  test("a hole in a list is refused like undefined", () => {
    assert.match(refusalOf({ tags: Array(2) }).message, /^enqueue: tags\[0\] is undefined; use text/)
  })

  test("the details of the error contain the option and the value", () => {
    assert.deepEqual(refusalOf({ priority: 6 }).details, { id: "x", option: "priority", value: 6 })
    assert.deepEqual(refusalOf({ key: "\0" }).details, { id: "x", option: "key", value: "\0" })
    assert.equal(refusalOf({ at: "soon" }).code, "BELFRY_INSTANT_INVALID")
  })

  test("a message shows only the beginning of a long value", () => {
    assert.isBelow(refusalOf({ key: "x".repeat(10_000_000) }).message.length, 200)
  })
})

describe("option names", () => {
  test.each([
    [{ enabld: true }, "enabld is not an option. Did you mean enabled?"],
    [{ Priority: 1 }, "Priority is not an option. Did you mean priority?"],
    [{ prioirty: 1 }, "prioirty is not an option. Did you mean priority?"],
    [{ nested: { limits: 1 } }, "nested.limits is not an option. Did you mean limit?"],
    [{ "a b": 1 }, `"a b" is not an option. Known options: ${Object.keys(TABLE).join(", ")}.`],
  ])("an unknown name is refused with the nearest known name or a list of them: %o", (given, problem) => {
    assert.equal(refusalOf(given).message, `enqueue: ${problem}`)
  })

  test("for a misspelt name the nearest known name is suggested, not the first similar one", () => {
    const error = thrownBy(() => checked({ untill: 1 }, { untilAt: instant, until: instant }, SOURCE))

    assert.equal(error.message, "enqueue: untill is not an option. Did you mean until?")
  })

  test.each([
    [{ tz: "UTC" }, "tz is not an option. Did you mean timezone?"],
    [{ pattern: "0 3 * * *" }, "pattern is not an option. Did you mean cron?"],
    [{ jobId: "1" }, "jobId is not an option. Did you mean id?"],
    [{ startAfter: 5 }, "startAfter is not an option. Did you mean delay or at?"],
    [{ attempts: 5 }, "attempts is not an option. Did you mean retry: { attempts }?"],
    [{ handler: 5 }, "handler is not an option. Did you mean run?"],
    [{ data: 5 }, "data is not an option. Did you mean payload?"],
    [{ scheduleId: "a" }, "scheduleId is not an option. Did you mean id?"],
    [{ connectionString: "a" }, "connectionString is not an option. Did you mean url?"],
  ])("for a name from another library, the same option of Belfry is suggested: %o", (given, problem) => {
    const names = ["cron", "timezone", "id", "delay", "at", "retry", "run", "payload", "url"]
    const table = Object.fromEntries(names.map((name) => [name, text({ min: 1, max: 50 })]))

    assert.equal(thrownBy(() => checked(given, table, SOURCE)).message, `enqueue: ${problem}`)
  })

  test("a name from another library isn't replaced by an option that the table doesn't have", () => {
    assert.match(refusalOf({ tz: "UTC" }).message, /tz is not an option\. Known options: priority,/)
  })

  test("the details of the error contain the unknown name", () => {
    assert.deepEqual(refusalOf({ enabld: true }).details, { id: "x", option: "enabld" })
  })

  test.each([
    [60, "x".repeat(60)],
    [61, `${"x".repeat(60)}…`],
  ])("a name of %d characters is shown with at most 60", (length, text) => {
    const { message } = refusalOf({ ["x".repeat(length)]: 1 })

    assert.isTrue(message.startsWith(`enqueue: ${text} is not an option. Known options: priority,`), message)
  })

  test.each(["__proto__", "constructor", "prototype", "toString"])(
    "%s, a property that every object inherits, is refused as an option",
    (name) => {
      const given = JSON.parse(`{ "${name}": { "enabled": true } }`)

      assert.match(refusalOf(given).message, new RegExp(`^enqueue: ${name} is not an option`))
    },
  )
})

describe("objects of options", () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const throwing = {
    get key() {
      throw new Error("no")
    },
  }

  test("an object that can't be read is refused like any other invalid value", () => {
    assert.equal(refusalOf(proxy).message, "enqueue: options can't be read.")
    assert.equal(
      refusalOf({ nested: proxy }).message,
      "enqueue: nested can't be read; use an object with limit.",
    )
    assert.match(refusalOf({ key: proxy }).message, /^enqueue: key is an unreadable object; use text/)
    assert.equal(
      refusalOf({ tags: proxy }).message,
      "enqueue: tags can't be read; use a list of at most 2, each text of 1 to 3 characters.",
    )
    assert.instanceOf(refusalOf({ tags: proxy }).cause, TypeError)
    assert.equal(refusalOf({ tags: proxy }).details["value"], "an unreadable object")
    assert.equal(refusalOf(throwing).message, "enqueue: options can't be read.")
    assert.equal((refusalOf(throwing).cause as Error).message, "no")
  })

  test("getters of a class instance are read as options", () => {
    class Options {
      get priority() {
        return 3
      }
    }

    assert.equal(checked(new Options(), TABLE, SOURCE).priority, 3)
  })
})
