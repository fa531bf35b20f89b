import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { createScheduler, defineTask, memory } from "../../src/index.ts"

const task = defineTask({ name: "report", run: () => undefined })

/** Options as they come from JavaScript. The types would refuse them. */
const untyped = (options: object) => options as never

describe("a mistake in the options of a schedule that is declared in code", () => {
  test("shows all options that task.schedule takes", () => {
    assert.throws(() => task.schedule("s", untyped({ every: "1h", zzzzz: 1 })), {
      message: /Known options: .*\bcron\b.*\bpayload, local\./,
    })
  })

  test("shows the kinds of timetable that can be declared", () => {
    assert.throws(() => task.schedule("s", untyped({})), {
      message: 'Schedule "s": trigger must be exactly one of cron, every and at; found none.',
    })
  })
})

describe("a mistake in a task with its own timetable", () => {
  const define = (options: object) => () => defineTask(untyped({ run: () => undefined, ...options }))

  test.each(["overlap", "jitter", "maxRuns", "at"])("%s belongs to task.schedule", (option) => {
    assert.throws(define({ name: "a", cron: "@daily", [option]: "skip" }), {
      code: "BELFRY_TASK_INVALID",
      message: `Task "a": ${option} is not an option. It is an option of a schedule: use task.schedule(id, { … }), and pass the result to createScheduler as one of \`schedules\`.`,
    })
  })

  test("its name must also be the id of a schedule", () => {
    assert.throws(define({ name: "mail.send", cron: "@daily" }), {
      code: "BELFRY_TASK_INVALID",
      message:
        'Task "mail.send": name is also the id of the schedule, because cron or every is given, and an id has 1 to 200 letters, digits, "_" and "-". To declare the schedule apart from the task, use task.schedule(id, { … }).',
    })
    assert.doesNotThrow(define({ name: "mail.send" }))
  })

  test.each([
    [{ timezone: "UTC" }, /timezone needs cron, which is missing/],
    [{ cron: "@daily", every: "1h" }, /every and cron are both given; give only one of them/],
  ])("%j is refused", (options, message) => {
    assert.throws(define({ name: "a", ...options }), { code: "BELFRY_TASK_INVALID", message })
  })
})

describe("a value in place of a list", () => {
  test("tasks", () => {
    assert.throws(() => createScheduler(untyped({ store: memory(), tasks: task })), {
      message: /tasks is an object; use a list of tasks\./,
    })
  })

  test("roles", () => {
    const scheduler = createScheduler({ store: memory() })

    assert.throws(() => scheduler.start(untyped({ roles: "work" })), {
      message: 'start: roles is "work"; use a list such as ["work"].',
    })
  })
})

test("a priority in words may also be a number", async () => {
  const { schedules } = createScheduler({ store: memory() })

  await assert.rejects(schedules.create("s", untyped({ task: "t", every: "1h", priority: "urgent" })), {
    message:
      /priority is "urgent"; use "low", "normal" or "high", or a whole number from -1000000 to 1000000/,
  })
})
