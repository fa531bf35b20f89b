import assert from "node:assert/strict"
import * as v from "valibot"
import { describe, test } from "vitest"
import * as z from "zod"
import { createScheduler, defineTask, memory } from "../../src/index.ts"
import { createTestScheduler } from "../../src/testing.ts"
import { Fleet } from "../support/fleet.ts"

const SCHEMAS = {
  Zod: z.object({ userId: z.string(), limit: z.number().default(10) }),
  Valibot: v.object({ userId: v.string(), limit: v.optional(v.number(), 10) }),
}

for (const [library, payload] of Object.entries(SCHEMAS)) {
  describe(`a ${library} schema`, () => {
    function digest() {
      const seen: unknown[] = []
      const task = defineTask({
        name: "digest",
        payload: payload as typeof SCHEMAS.Zod,
        run: (context) => void seen.push(context.payload),
      })
      return { task, seen }
    }
    const wrong = { userId: 42 } as unknown as { userId: string }
    const refusal = {
      code: "BELFRY_PAYLOAD_INVALID",
      message: /^Payload of task "digest" is invalid at userId: /,
    }

    test("is checked when a schedule is declared", () => {
      const { task } = digest()

      assert.throws(() => task.schedule("s", { every: "1h", payload: wrong }), refusal)
      assert.equal(task.schedule("s", { every: "1h", payload: { userId: "1" } }).id, "s")
    })

    test("is checked at enqueue, for a task value and for a task name", async () => {
      const { task } = digest()
      await using test = await createTestScheduler({ tasks: [task] })

      await assert.rejects(test.scheduler.enqueue(task, { payload: wrong }), refusal)
      await assert.rejects(test.scheduler.enqueue("digest", { payload: wrong }), refusal)
      assert.deepEqual(await test.runs(), [])
    })

    test("is checked when a schedule is created, updated and triggered", async () => {
      const { task } = digest()
      await using test = await createTestScheduler({ tasks: [task] })
      const { schedules } = test.scheduler

      await assert.rejects(schedules.create("s", { task, every: "1h", payload: wrong }), refusal)
      await schedules.create("s", { task, every: "1h", payload: { userId: "1" } })
      await assert.rejects(schedules.update("s", { payload: wrong }, { ifRevision: 1 }), refusal)
      await assert.rejects(schedules.update("s", { payload: null }, { ifRevision: 1 }), {
        code: "BELFRY_PAYLOAD_INVALID",
      })
      await assert.rejects(schedules.trigger("s", { payload: wrong }), refusal)
    })

    test("stores the given payload and passes the parsed payload to the task", async () => {
      const { task, seen } = digest()
      await using test = await createTestScheduler({ tasks: [task] })

      await test.scheduler.enqueue(task, { payload: { userId: "1" } })
      await test.advance("1s")

      assert.deepEqual((await test.runs())[0]?.payload, { userId: "1" })
      assert.deepEqual(seen, [{ userId: "1", limit: 10 }])
    })

    test("is checked when the run starts, and an invalid payload fails without a retry", async () => {
      const { task, seen } = digest()
      await using fleet = new Fleet()
      // A process that doesn't define the task can't check the payload.
      await fleet.node().enqueue("digest", { payload: wrong, id: "r", retry: { attempts: 5 } })

      const node = await fleet.started({ tasks: [task] })
      await fleet.advance("1h")

      const run = await node.runs.get("r")
      assert.deepEqual([run?.state, run?.attempt], ["failed", 1])
      assert.match(run!.error!, /Payload of task "digest" is invalid at userId/)
      assert.deepEqual(seen, [])
    })
  })
}

describe("asynchronous schemas", () => {
  const payload = z.object({ userId: z.string().refine(async (id) => id.startsWith("u")) })
  const task = defineTask({ name: "digest", payload, run: () => "done" })

  test("are awaited at start, and an invalid payload makes the start fail", async () => {
    const schedules = [task.schedule("s", { every: "1h", payload: { userId: "x1" } })]

    await assert.rejects(createTestScheduler({ tasks: [task], schedules }), {
      code: "BELFRY_PAYLOAD_INVALID",
    })
  })

  test("are awaited at enqueue", async () => {
    await using test = await createTestScheduler({ tasks: [task] })

    await assert.rejects(test.scheduler.enqueue(task, { payload: { userId: "x1" } }), {
      code: "BELFRY_PAYLOAD_INVALID",
    })
    assert.equal((await test.scheduler.enqueue(task, { payload: { userId: "u1" } })).outcome, "created")
  })

  test.each([
    { title: "a promise", later: (result: unknown) => Promise.resolve(result) },
    {
      title: "an object with a then method",
      // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable.
      later: (result: unknown) => ({ then: (resolve: (value: unknown) => void) => resolve(result) }),
    },
  ])("are awaited when the run starts, also if they return $title", async ({ later }) => {
    const seen: unknown[] = []
    const validate = (value: unknown) => later({ value: { read: value } }) as Promise<{ value: unknown }>
    const schema = { "~standard": { version: 1, vendor: "test", validate } } as const
    const task = defineTask<unknown>({
      name: "t",
      payload: schema,
      run: (context) => void seen.push(context.payload),
    })
    await using test = await createTestScheduler({
      tasks: [task],
      schedules: [task.schedule("s", { every: "1h", payload: "a" })],
    })

    await test.scheduler.enqueue(task, { payload: "b" })
    await test.advance("1h")

    assert.deepEqual(seen, [{ read: "b" }, { read: "a" }])
  })
})

describe("a payload is stored as JSON", () => {
  test("a value that JSON changes is refused at enqueue, not when the run starts", async () => {
    const task = defineTask({ name: "t", payload: z.object({ day: z.date() }), run: () => "done" })
    await using test = await createTestScheduler({ tasks: [task] })

    await assert.rejects(test.scheduler.enqueue(task, { payload: { day: new Date(0) } }), {
      code: "BELFRY_PAYLOAD_INVALID",
      message: /at day: /,
    })
    assert.throws(() => task.schedule("s", { every: "1h", payload: { day: new Date(0) } }), {
      code: "BELFRY_PAYLOAD_INVALID",
    })
  })

  test("a schema may parse a date from its text", async () => {
    const seen: unknown[] = []
    const payload = z.object({ day: z.coerce.date() })
    const task = defineTask({ name: "t", payload, run: (context) => void seen.push(context.payload.day) })
    await using test = await createTestScheduler({ tasks: [task] })

    await test.scheduler.enqueue(task, { payload: { day: new Date(0) } })
    await test.advance("1s")

    assert.deepEqual(seen, [new Date(0)])
  })

  for (const [name, payload, given, expected] of [
    ["undefined, if the schema allows it", z.string().optional(), undefined, undefined],
    ["undefined, with a default", z.string().default("x"), undefined, "x"],
    ["null, if only null is allowed", z.null(), null, null],
    ["null, if the schema is nullable", z.string().nullable(), null, null],
  ] as const) {
    test(`${name}, reaches the task`, async () => {
      const seen: unknown[] = []
      const schema = payload as unknown as z.ZodType<unknown, unknown>
      const task = defineTask({
        name: "t",
        payload: schema,
        run: (context) => void seen.push(context.payload),
      })
      const schedules = [task.schedule("s", { every: "1h", payload: given })]
      await using test = await createTestScheduler({ tasks: [task], schedules })

      await test.scheduler.enqueue(task, { payload: given })
      await test.advance("1h")

      assert.deepEqual(seen, [expected, expected])
    })
  }

  test("a task without a schema gets undefined", async () => {
    const seen: unknown[] = []
    const task = defineTask({ name: "t", run: (context) => void seen.push(context.payload) })
    await using test = await createTestScheduler({ tasks: [task] })

    await test.scheduler.enqueue("t")
    await test.scheduler.enqueue(task)
    await test.advance("1s")

    assert.deepEqual(seen, [undefined, undefined])
  })
})

describe("a task without a schema takes no payload", () => {
  const send = defineTask({ name: "send", run: (context) => ({ payload: context.payload }) })
  const none = (hint = "") => ({
    code: "BELFRY_PAYLOAD_INVALID",
    message: new RegExp(
      `^Task "send" takes no payload: it has no schema\\. .* payload schema if it takes one${hint}\\.$`,
    ),
    details: { option: "payload", task: "send" },
  })

  test("at enqueue", async () => {
    await using fleet = new Fleet()
    const node = fleet.node({ tasks: [send] })

    await assert.rejects(node.enqueue(send, { payload: { delay: "5m" } as never }), none())
    await assert.rejects(node.enqueue("send", { payload: { delay: "5m" } }), none())
    assert.deepEqual((await node.runs.list()).items, [])
  })

  test("in a schedule that is created, updated, triggered or declared", async () => {
    await using fleet = new Fleet()
    const { schedules } = fleet.node({ tasks: [send] })
    const cron = "0 * * * *"
    const payload = { a: 1 } as never
    const { revision: ifRevision } = await schedules.create("s", { task: send, cron })

    await assert.rejects(schedules.create("other", { task: "send", cron, payload }), none())
    await assert.rejects(schedules.update("s", { payload }, { ifRevision }), none())
    await assert.rejects(schedules.trigger("s", { payload }), none())
    assert.throws(
      () => fleet.node({ tasks: [send], schedules: [send.schedule("d", { cron, payload })] }),
      none(),
    )
  })

  test("a stored payload still runs, and its schedule can be updated and triggered", async () => {
    await using fleet = new Fleet()
    const elsewhere = fleet.node()
    await elsewhere.enqueue("send", { payload: { a: 1 }, id: "r" })
    await elsewhere.schedules.create("s", { task: "send", every: "1h", payload: { a: 2 } })
    const node = await fleet.started({ tasks: [send] })

    await node.schedules.update("s", { description: "hourly" }, { ifRevision: 1 })
    const { runId } = await node.schedules.trigger("s")
    await fleet.advance("1s")

    assert.deepEqual((await node.runs.get("r"))?.details, { payload: { a: 1 } })
    assert.deepEqual((await node.runs.get(runId))?.details, { payload: { a: 2 } })
  })
})

describe("defineTask", () => {
  const run = () => undefined
  const REFUSED: readonly (readonly [string, object, string])[] = [
    ["an empty name", { name: "", run }, "BELFRY_TASK_INVALID"],
    ["a name with a space", { name: "a b", run }, "BELFRY_TASK_INVALID"],
    ["no run function", { name: "t" }, "BELFRY_TASK_INVALID"],
    ["an invalid schema", { name: "t", run, payload: {} }, "BELFRY_TASK_INVALID"],
    ["an invalid timeout", { name: "t", run, timeout: "long" }, "BELFRY_DURATION_INVALID"],
    ["no attempts", { name: "t", run, retry: { attempts: 0 } }, "BELFRY_TASK_INVALID"],
    ["a lease below the minimum", { name: "t", run, lease: "50ms" }, "BELFRY_TASK_INVALID"],
  ]
  for (const [name, options, code] of REFUSED) {
    test(`refuses ${name}`, () => {
      assert.throws(() => defineTask(options as Parameters<typeof defineTask>[0]), { code })
    })
  }
})

describe("a task with an examine function", () => {
  const known = new Set(["a"])
  const examined: unknown[] = []
  const task = defineTask({
    name: "call",
    payload: z.object({ name: z.string().toLowerCase() }),
    run: () => undefined,
    async examine({ name }) {
      examined.push(name)
      if (!known.has(name)) throw new Error(`There is nothing named "${name}".`)
    },
  })
  const refused = {
    code: "BELFRY_PAYLOAD_INVALID",
    message: 'Payload of task "call" can\'t be used: There is nothing named "b".',
  }

  test("examines the parsed payload of a schedule that is created or gets another payload", async () => {
    const { schedules } = createScheduler({ store: memory(), tasks: [task] })

    await assert.rejects(schedules.create("s", { task, cron: "@daily", payload: { name: "B" } }), refused)
    await schedules.create("s", { task, cron: "@daily", payload: { name: "A" } })
    await assert.rejects(schedules.update("s", { payload: { name: "b" } }, { ifRevision: 1 }), refused)

    assert.deepEqual(examined, ["b", "a", "b"])
    assert.deepEqual((await schedules.get("s"))?.payload, { name: "A" })
  })

  test("doesn't examine an unchanged payload, nor one that its schema refuses", async () => {
    const { schedules } = createScheduler({ store: memory(), tasks: [task] })
    await schedules.create("s", { task, cron: "@daily", payload: { name: "a" } })
    examined.length = 0
    known.delete("a")

    await schedules.update("s", { enabled: false }, { ifRevision: 1 })
    await assert.rejects(schedules.update("s", { payload: { name: 1 } }, { ifRevision: 2 }), {
      code: "BELFRY_PAYLOAD_INVALID",
    })

    assert.deepEqual(examined, [])
  })
})
