import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { gzipSync } from "node:zlib"
import { describe, test } from "vitest"
import { createScheduler, DoNotRetry, memory, RetryAfter, silentLogger } from "../../src/index.ts"
import { type HttpPayload, httpTask } from "../../src/tasks.ts"
import { waitForRun } from "../../src/testing.ts"
import { answering, httpTarget } from "../support/http-target.ts"
import { performTask } from "../support/task-run.ts"

const task = httpTask({ allowNet: ["127.0.0.1"], timeout: "10m" })

describe("the result of an answer", () => {
  test("a status of 200 to 299 succeeds, and status, headers and JSON are kept", async () => {
    await using target = await httpTarget(
      answering(
        201,
        { "content-type": "application/json", etag: '"7"', "set-cookie": "id=1" },
        '{"ok":true}',
      ),
    )

    const { success, details } = await performTask(task, { url: target.url }).ended

    assert.equal(success, true)
    assert.deepEqual([details["status"], details["body"], details["isCut"]], [201, { ok: true }, false])
    const headers = details["headers"] as Record<string, string>
    assert.equal(headers["etag"], '"7"')
    assert.equal(headers["set-cookie"], undefined)
  })

  for (const status of [301, 302, 307, 308]) {
    test(`${status} fails, and its location is not called`, async () => {
      await using target = await httpTarget((response, { path }) =>
        answering(status, { location: path === "/hook" ? "/elsewhere" : "/hook" })(response),
      )

      const { success, message, details } = await performTask(task, { url: target.url }).ended

      assert.equal(success, false)
      assert.match(message, new RegExp(`answered ${status}; redirects are not followed`))
      assert.equal((details["headers"] as Record<string, string>)["location"], "/elsewhere")
      assert.equal(target.received.length, 1)
    })
  }

  test("500 fails, with the answer in the details, and the retry policy decides", async () => {
    await using target = await httpTarget(answering(500, {}, "broken"))

    const { success, details } = await performTask(task, { url: target.url }).ended

    assert.deepEqual([success, details["status"], details["body"]], [false, 500, "broken"])
  })

  test("410 fails without a retry, with the answer in the details", async () => {
    await using target = await httpTarget(answering(410, { "content-type": "text/plain" }, "moved out"))

    const run = await endOf(task, { url: target.url })

    assert.deepEqual([run.state, run.attempt], ["failed", 1])
    const { status, body } = run.details as { status: number; body: string }
    assert.deepEqual([status, body], [410, "moved out"])
    assert.match(run.error!, /answered 410: the resource is permanently gone/)
  })

  test("an attempt without an answer has no details, and its error has the reason", async () => {
    await using target = await httpTarget(() => undefined)
    const once = httpTask({ allowNet: ["127.0.0.1"], retry: { attempts: 1 } })

    const run = await endOf(once, { url: target.url, timeout: "100ms" })

    assert.deepEqual([run.state, run.details], ["failed", null])
    assert.match(run.error!, /: No answer within 100 ms/)
  })

  for (const status of [429, 503]) {
    test(`${status} with Retry-After is retried after that time`, async () => {
      await using target = await httpTarget(answering(status, { "retry-after": "120" }))

      const ended = performTask(task, { url: target.url }).ended

      await assert.rejects(ended, (error) => {
        assert.ok(error instanceof RetryAfter)
        assert.equal((error.details as { status: number }).status, status)
        return error.afterMs === 120_000
      })
    })
  }

  test("Retry-After may be a date, and is limited to one day", async () => {
    const now = Date.parse("2026-01-01T00:00:00Z")
    const { systemClock } = await import("../../src/runtime/clock.ts")
    const dated = httpTask({ allowNet: ["127.0.0.1"], clock: { ...systemClock, now: () => now } })
    const waits: [string, number][] = [
      ["Thu, 01 Jan 2026 00:05:00 GMT", 300_000],
      ["Wed, 31 Dec 2025 00:00:00 GMT", 1_000],
      ["0", 1_000],
      ["9999999999", 86_400_000],
    ]
    for (const [header, afterMs] of waits) {
      await using target = await httpTarget(answering(429, { "retry-after": header }))

      const ended = performTask(dated, { url: target.url }).ended

      await assert.rejects(ended, (error) => error instanceof RetryAfter && error.afterMs === afterMs, header)
    }
  })

  test("429 without a valid Retry-After is left to the retry policy", async () => {
    await using target = await httpTarget(answering(429, { "retry-after": "soon" }))

    assert.equal((await performTask(task, { url: target.url }).ended).success, false)
  })

  test("expectStatus is the status that succeeds: one, a list or a range", async () => {
    await using target = await httpTarget((response, { path }) => answering(Number(path.slice(1)))(response))
    const succeeds = async (
      status: number,
      expectStatus: number | number[] | { from: number; to: number },
    ) => {
      const url = `http://127.0.0.1:${target.port}/${status}`
      return (await performTask(task, { url, expectStatus }).ended).success
    }

    assert.deepEqual([await succeeds(404, 404), await succeeds(200, 404)], [true, false])
    assert.deepEqual([await succeeds(304, [200, 304]), await succeeds(201, [200, 304])], [true, false])
    assert.deepEqual(
      [await succeeds(404, { from: 200, to: 404 }), await succeeds(405, { from: 200, to: 404 })],
      [true, false],
    )
  })
})

describe("failing answers", () => {
  test("a server that never answers fails the attempt at the timeout", async () => {
    await using target = await httpTarget(() => undefined)

    await assert.rejects(
      performTask(task, { url: target.url, timeout: "100ms" }).ended,
      /No answer within 100 ms/,
    )
  })

  test("a body that doesn't end fails the attempt at the timeout", async () => {
    await using target = await httpTarget((response) => void response.writeHead(200).write("a"))

    await assert.rejects(
      performTask(task, { url: target.url, timeout: "100ms" }).ended,
      /No answer within 100 ms/,
    )
  })

  test("a resolver that never answers fails the attempt at the timeout", async () => {
    const stuck = httpTask({ lookup: () => new Promise(() => undefined) })

    const ended = performTask(stuck, { url: "http://x.example/", timeout: "50ms" }).ended

    await assert.rejects(ended, /No answer within 50 ms/)
  })

  test("a slow answer within the timeout is waited for", async () => {
    await using target = await httpTarget((response) => void sleep(150).then(() => response.end("late")))

    assert.equal((await performTask(task, { url: target.url, timeout: "10m" }).ended).details["body"], "late")
  })

  test("the run's signal ends the request at once", async () => {
    const controller = new AbortController()
    let onClose: () => void
    const closed = new Promise<void>((resolve) => {
      onClose = resolve
    })
    await using target = await httpTarget((_, __, request) => {
      request.socket.on("close", () => onClose())
      controller.abort(new Error("cancelled by somebody"))
    })

    const { ended } = performTask(task, { url: target.url }, { signal: controller.signal })

    await assert.rejects(ended, /cancelled by somebody/)
    await closed
  })

  test("a connection that is reset fails the attempt", async () => {
    await using target = await httpTarget((_, __, request) => void request.socket.resetAndDestroy())

    await assert.rejects(performTask(task, { url: target.url }).ended, /ECONNRESET|socket hang up/)
  })

  test("a connection that is reset before the end of the body fails the attempt", async () => {
    await using target = await httpTarget((response, _, request) => {
      response
        .writeHead(200, { "content-length": "100" })
        .write("half", () => request.socket.resetAndDestroy())
    })

    await assert.rejects(performTask(task, { url: target.url }).ended, /ECONNRESET|aborted|before the end/)
  })

  test("a body that ends with its connection is read to its end", async () => {
    await using target = await httpTarget((_, __, request) => {
      request.socket.end(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n${"x".repeat(40_000)}`)
    })

    const { details } = await performTask(task, { url: target.url }).ended

    assert.equal(String(details["body"]).length, 40_000)
  })

  test("an endless body is cut at 64 KiB and the connection is closed", async () => {
    let sent = 0
    await using target = await httpTarget((response) => {
      response.writeHead(200, { "content-type": "text/plain" })
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(16_384))) sent += 16_384
      }
      response.on("drain", more)
      more()
    })

    const { success, details } = await performTask(task, { url: target.url }).ended

    assert.deepEqual([success, details["isCut"]], [true, true])
    assert.ok(Buffer.byteLength(String(details["body"])) <= 65_536)
    assert.ok(sent < 50_000_000)
  })

  test("a compressed body is never unpacked", async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000))
    await using target = await httpTarget((response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bomb)
    })

    const { success, details } = await performTask(task, { url: target.url }).ended

    assert.deepEqual([success, details["body"]], [true, null])
    assert.equal(target.received[0]!.headers["accept-encoding"], "identity")
  })

  test("JSON that is nested too deeply is stored as text, and NUL characters are replaced", async () => {
    const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`
    await using target = await httpTarget((response, { path }) =>
      answering(
        200,
        { "content-type": "application/json" },
        path === "/hook" ? deep : '{"a\\u0000":"b\\u0000"}',
      )(response),
    )

    const first = await performTask(task, { url: target.url }).ended
    const second = await performTask(task, { url: `http://127.0.0.1:${target.port}/nul` }).ended

    assert.equal(first.details["body"], deep)
    assert.deepEqual(second.details["body"], { "a\uFFFD": "b\uFFFD" })
  })
})

describe("the destination of a request", () => {
  test("a name with a private address is refused at the run, without a retry", async () => {
    const rebinding = httpTask({ lookup: async () => [{ address: "10.0.0.1", family: 4 }] })

    const ended = performTask(rebinding, { url: "http://harmless.example/" }).ended

    await assert.rejects(ended, (error: Error) => {
      assert.ok(error instanceof DoNotRetry)
      assert.match(error.message, /leads to 10\.0\.0\.1, which is not a public address/)
      return (error.cause as { code: string }).code === "BELFRY_HTTP_DENIED"
    })
  })

  test("the connection goes to the checked address, with the given host name", async () => {
    await using target = await httpTarget(answering(200))
    const named = httpTask({
      allowNet: ["127.0.0.1"],
      lookup: async () => [{ address: "127.0.0.1", family: 4 }],
    })

    await performTask(named, { url: `http://no-such-name.invalid:${target.port}/hook` }).ended

    assert.equal(target.received[0]!.headers.host, `no-such-name.invalid:${target.port}`)
  })

  test("a proxy in the environment is not used", async () => {
    await using target = await httpTarget(answering(200))
    await using proxy = await httpTarget(answering(502))
    const names = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"]
    const before = names.map((name) => process.env[name])
    for (const name of names) process.env[name] = name === "NODE_USE_ENV_PROXY" ? "1" : proxy.url

    const { success } = await performTask(task, { url: target.url }).ended

    for (const [index, name] of names.entries()) {
      if (before[index] === undefined) delete process.env[name]
      else process.env[name] = before[index]
    }
    assert.deepEqual([success, target.received.length, proxy.received.length], [true, 1, 0])
  })
})

/** The failed run, performed by a scheduler. */
async function endOf(called: typeof task, payload: HttpPayload) {
  await using scheduler = createScheduler({ store: memory(), tasks: [called], logger: silentLogger })
  await scheduler.start()
  await scheduler.enqueue(called, { payload: payload })
  return await waitForRun(scheduler, { state: "failed" }, { timeout: "10m" })
}
