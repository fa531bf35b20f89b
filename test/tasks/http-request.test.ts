import assert from "node:assert/strict"
import { createHmac } from "node:crypto"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { inspect } from "node:util"
import { afterEach, describe, test } from "vitest"
import { createScheduler, memory, silentLogger } from "../../src/index.ts"
import { systemClock } from "../../src/runtime/clock.ts"
import { httpTask, webhookIdOf } from "../../src/tasks.ts"
import { waitForRun } from "../../src/testing.ts"
import { TEST_CERTIFICATE, TEST_KEY } from "../support/certificate.ts"
import { answering, httpTarget } from "../support/http-target.ts"
import { performTask } from "../support/task-run.ts"

const TOKEN = "tok/en+1&2#%"
const VARIABLES = ["BELFRY_TEST_TOKEN", "BELFRY_TEST_SECRET", "BELFRY_TEST_ORIGIN"]
const SENT_AT = Date.parse("2026-03-27T01:30:00.250Z")
const task = httpTask({
  allowNet: ["127.0.0.1"],
  env: VARIABLES,
  timeout: "10m",
  clock: { ...systemClock, now: () => SENT_AT },
})

afterEach(() => {
  for (const name of VARIABLES) delete process.env[name]
})

describe("the request", () => {
  test("a body is sent as JSON with POST by default", async () => {
    await using target = await httpTarget(answering(200))

    await performTask(task, { url: target.url, body: { day: 1, list: [null, "ü"] } }).ended

    const [{ method, headers, body }] = target.received as [(typeof target.received)[0]]
    assert.deepEqual(
      [method, headers["content-type"], JSON.parse(body)],
      ["POST", "application/json", { day: 1, list: [null, "ü"] }],
    )
    assert.equal(headers["content-length"], String(Buffer.byteLength(body)))
  })

  test("a string is sent as it is, with the given method and headers", async () => {
    await using target = await httpTarget(answering(200))
    const headers = { "Content-Type": "application/xml", "X-Tenant": "7" }

    await performTask(task, { url: `${target.url}?a=1`, method: "PUT", headers, body: "<a/>" }).ended

    const [got] = target.received as [(typeof target.received)[0]]
    assert.deepEqual([got.method, got.path, got.body], ["PUT", "/hook?a=1", "<a/>"])
    assert.deepEqual([got.headers["content-type"], got.headers["x-tenant"]], ["application/xml", "7"])
  })

  test("a request without a body is a GET", async () => {
    await using target = await httpTarget(answering(204))

    await performTask(task, { url: target.url }).ended

    assert.deepEqual([target.received[0]!.method, target.received[0]!.body], ["GET", ""])
  })
})

describe("the id of a message", () => {
  test("a run's id keeps letters, digits and dashes, and each other byte becomes _ and two digits", () => {
    assert.equal(webhookIdOf("nightly@2026-01-01T00:00:00Z"), "nightly_402026-01-01T00_3A00_3A00Z")
    assert.equal(webhookIdOf("a_b ü"), "a_5Fb_20_C3_BC")
  })

  test("long ids are shortened and stay different", () => {
    const [one, other] = [webhookIdOf(`${"x".repeat(300)}1`), webhookIdOf(`${"x".repeat(300)}2`)]

    assert.notEqual(one, other)
    for (const id of [one, other]) assert.match(id, /^[A-Za-z0-9_-]{200}$/)
  })

  test("every attempt of a run sends the same webhook-id and Idempotency-Key", async () => {
    let count = 0
    await using target = await httpTarget((response) => answering(++count < 3 ? 500 : 200)(response))
    const retried = httpTask({ allowNet: ["127.0.0.1"], retry: { attempts: 3, delay: "20ms" } })
    const scheduler = createScheduler({ store: memory(), tasks: [retried], logger: silentLogger })
    await scheduler.start()

    const { runId } = await scheduler.enqueue(retried, { payload: { url: target.url }, id: "order@7" })
    const run = await waitForRun(scheduler, { state: "succeeded" }, { timeout: "10m" })
    await scheduler.stop()

    assert.deepEqual([run.id, run.attempt], [runId, 3])
    const ids = target.received.map(({ headers }) => [headers["webhook-id"], headers["idempotency-key"]])
    assert.deepEqual(ids, Array(3).fill(["order_407", "order_407"]))
  })
})

describe("signatures", () => {
  const secrets = [Buffer.alloc(24, "first secret"), Buffer.alloc(64, "second secret")]

  test("a receiver that knows a secret can verify the message", async () => {
    process.env["BELFRY_TEST_SECRET"] = secrets.map((key) => `whsec_${key.toString("base64")}`).join(" ")
    await using target = await httpTarget(answering(200))

    await performTask(task, { url: target.url, body: { amount: "5 €" }, secret: "BELFRY_TEST_SECRET" }).ended

    const { headers, body } = target.received[0]!
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`
    const expected = secrets.map(
      (key) => `v1,${createHmac("sha256", key).update(signed, "utf8").digest("base64")}`,
    )
    assert.equal(headers["webhook-signature"], expected.join(" "))
    assert.equal(Number(headers["webhook-timestamp"]), Math.floor(SENT_AT / 1_000))
  })

  test("the signature equals the example in the Standard Webhooks specification", async () => {
    const { parseSecrets, signatureOf } = await import("../../src/tasks/http/webhook.ts")
    const keys = parseSecrets("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "X")
    const message = {
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestamp: 1_614_265_330,
      body: '{"test": 2432232314}',
    }

    assert.equal(signatureOf(message, keys), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  })

  test("the signature of a message without a body signs an empty body", async () => {
    process.env["BELFRY_TEST_SECRET"] = `whsec_${secrets[0]!.toString("base64")}`
    await using target = await httpTarget(answering(200))

    await performTask(task, { url: target.url, secret: "BELFRY_TEST_SECRET" }).ended

    const { headers } = target.received[0]!
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`
    assert.equal(
      headers["webhook-signature"],
      `v1,${createHmac("sha256", secrets[0]!).update(signed).digest("base64")}`,
    )
  })

  test("an invalid secret is reported without being shown", async () => {
    for (const wrong of [
      "hunter2hunter2",
      "whsec_c2hvcnQ=",
      "whsec_!!!!",
      `whsec_${Buffer.alloc(65).toString("base64")}`,
    ]) {
      process.env["BELFRY_TEST_SECRET"] = wrong

      const ended = performTask(task, { url: "http://127.0.0.1:9999/", secret: "BELFRY_TEST_SECRET" }).ended

      await assert.rejects(ended, (error: Error) => {
        assert.ok(!String(error.stack).includes(wrong))
        return /BELFRY_TEST_SECRET holds no signing secret/.test(error.message)
      })
    }
  })
})

describe("variables", () => {
  test("variables are filled in at the run, percent-encoded in a path, and redacted from everything that is stored", async () => {
    process.env["BELFRY_TEST_TOKEN"] = TOKEN
    await using target = await httpTarget((response, { path, headers, body }) =>
      answering(
        200,
        { "content-type": "application/json", "x-request-id": TOKEN },
        JSON.stringify({ path, auth: headers["x-auth"], body }),
      )(response),
    )

    const { ended, lines } = performTask(task, {
      url: `${target.url}?key={{env.BELFRY_TEST_TOKEN}}`,
      headers: { "x-auth": "Bearer {{env.BELFRY_TEST_TOKEN}}" },
      body: { deep: ["{{ env.BELFRY_TEST_TOKEN }}"] },
    })
    const report = await ended

    const [got] = target.received as [(typeof target.received)[0]]
    assert.equal(got.path, `/hook?key=${encodeURIComponent(TOKEN)}`)
    assert.equal(got.headers["x-auth"], `Bearer ${TOKEN}`)
    assert.deepEqual(JSON.parse(got.body), { deep: [TOKEN] })
    const kept = JSON.stringify([report, lines])
    assert.ok(!kept.includes("tok/en") && !kept.includes("tok%2Fen"), kept)
    assert.equal((report.details["body"] as { auth: string }).auth, "Bearer {{env.BELFRY_TEST_TOKEN}}")
  })

  test.each([
    ["in upper or lower case", "a/b+c=d", "a%2fb%2Bc%3dd"],
    ["only where necessary", "it's a/b:c", "it%27s+a%2Fb:c"],
    ["with its UTF-8 bytes", "pässword", "p%C3%A4ssword"],
    ["in JSON with escaped slashes", "a/b/c/d", "a\\/b\\/c\\/d"],
    ["in HTML", 'a&b"c', "a&amp;b&quot;c"],
    ["with characters that are special in a replacement", "a$&b$1", "a$&b$1"],
  ])("a value that comes back encoded, %s, is redacted", async (_, value, echo) => {
    process.env["BELFRY_TEST_TOKEN"] = value
    await using target = await httpTarget(
      answering(200, { "content-type": "text/plain", etag: echo }, `<${echo}>`),
    )

    const url = `${target.url}?key={{env.BELFRY_TEST_TOKEN}}`
    const { ended, lines } = performTask(task, { url })

    const { details } = await ended
    assert.deepEqual(
      [details["body"], (details["headers"] as { etag: string }).etag],
      ["<{{env.BELFRY_TEST_TOKEN}}>", "{{env.BELFRY_TEST_TOKEN}}"],
    )
    assert.ok(!JSON.stringify(lines).includes(echo))
  })

  test.each([
    ["4711", "4711"],
    ["4711", "47110"],
    ["12345678901234567890", "12345678901234567890"],
    ["0012345", "12345"],
  ])("the value %s that comes back as the number %s is redacted", async (value, number) => {
    process.env["BELFRY_TEST_TOKEN"] = value
    const json = `{"pin":${number},"list":[${number},1]}`
    await using target = await httpTarget(answering(200, { "content-type": "application/json" }, json))

    const headers = { "x-pin": "{{env.BELFRY_TEST_TOKEN}}" }
    const { details } = await performTask(task, { url: target.url, headers }).ended

    const { pin, list } = details["body"] as { pin: string; list: unknown[] }
    for (const kept of [pin, list[0]]) assert.match(String(kept), /^\{\{env\.BELFRY_TEST_TOKEN\}\}0?$/)
    assert.equal(list[1], 1)
  })

  test.each([
    ["https://user:hunter2@db.example/x", "hunter2"],
    ["https://user:hunt%2Fer2@db.example/x", "hunt/er2"],
    ["https://ghp_token@git.example/x", "ghp_token"],
    ["https://user:100%25ly%@db.example/x", "100%25ly%"],
  ])("the secret part of %s is also redacted when it comes back alone", async (value, part) => {
    process.env["BELFRY_TEST_TOKEN"] = value
    await using target = await httpTarget(answering(500, { "content-type": "text/plain" }, `bad ${part}!`))

    const body = { remote: "{{env.BELFRY_TEST_TOKEN}}" }
    const { details } = await performTask(task, { url: target.url, body }).ended

    assert.equal(details["body"], "bad {{env.BELFRY_TEST_TOKEN}}!")
  })

  test("a URL from a variable with a user name and password is refused without being shown", async () => {
    process.env["BELFRY_TEST_ORIGIN"] = "http://admin:hunter2@127.0.0.1:9999"

    const ended = performTask(task, { url: "{{env.BELFRY_TEST_ORIGIN}}/hook" }).ended

    await assert.rejects(ended, (error: Error) => {
      assert.match(error.message, /contains a user name or password/)
      return !inspect(error).includes("hunter2") && !inspect(error).includes("admin:")
    })
  })

  test("an error with a value in its causes or fields is stored without them", async () => {
    process.env["BELFRY_TEST_ORIGIN"] = "http://very-secret-host.invalid"
    const failing = httpTask({
      env: VARIABLES,
      lookup: async (hostname) => {
        throw new Error("no address", { cause: Object.assign(new Error("not found"), { hostname }) })
      },
    })

    const ended = performTask(failing, { url: "{{env.BELFRY_TEST_ORIGIN}}/" }).ended

    await assert.rejects(ended, (error: Error) => {
      assert.match(error.message, /no address/)
      return !inspect(error).includes("very-secret")
    })
  })

  test("the beginning of a value at the end of a cut body is not stored", async () => {
    process.env["BELFRY_TEST_TOKEN"] = "sesame-open-wide"
    const text = `${"x".repeat(65_526)}sesame-open-wide${"y".repeat(9_000)}`
    await using target = await httpTarget(answering(200, { "content-type": "text/plain" }, text))

    const headers = { "x-auth": "{{env.BELFRY_TEST_TOKEN}}" }
    const { details } = await performTask(task, { url: target.url, headers }).ended

    assert.ok(!String(details["body"]).includes("sesa"))
  })

  test("a variable may be a whole origin, which is checked like any other", async () => {
    await using target = await httpTarget(answering(200))
    process.env["BELFRY_TEST_ORIGIN"] = `http://127.0.0.1:${target.port}`
    assert.equal((await performTask(task, { url: "{{env.BELFRY_TEST_ORIGIN}}/hook" }).ended).success, true)

    process.env["BELFRY_TEST_ORIGIN"] = "http://192.168.0.17"
    const ended = performTask(task, { url: "{{env.BELFRY_TEST_ORIGIN}}/hook" }).ended

    await assert.rejects(ended, /not a public address/)
  })

  test("a value in an error's message is redacted", async () => {
    process.env["BELFRY_TEST_ORIGIN"] = "http://very-secret-host.invalid"
    const failing = httpTask({
      env: VARIABLES,
      lookup: async (host) => {
        throw new Error(`getaddrinfo ENOTFOUND ${host}`)
      },
    })

    const ended = performTask(failing, { url: "{{env.BELFRY_TEST_ORIGIN}}/" }).ended

    await assert.rejects(ended, (error: Error) => !`${error.stack}${error.cause}`.includes("very-secret"))
  })

  test("a variable that isn't set, or is not allowed in a header, fails the attempt", async () => {
    const payload = { url: "http://127.0.0.1:9999/", headers: { "x-auth": "{{env.BELFRY_TEST_TOKEN}}" } }
    await assert.rejects(performTask(task, payload).ended, /BELFRY_TEST_TOKEN is not set in this worker/)

    process.env["BELFRY_TEST_TOKEN"] = "one\r\nx-evil: 1"
    await assert.rejects(
      performTask(task, payload).ended,
      /contains characters that are not allowed in a header/,
    )
  })
})

describe("TLS", () => {
  const resolved = {
    allowNet: ["127.0.0.1"],
    lookup: async () => [{ address: "127.0.0.1", family: 4 as const }],
  }

  async function tlsTarget() {
    const server = createServer(
      { cert: TEST_CERTIFICATE, key: TEST_KEY },
      (_, response) => void response.end("safe"),
    )
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    return { port, [Symbol.asyncDispose]: async () => void server.close() }
  }

  test("an untrusted certificate is refused, even if an environment variable allows it", async () => {
    await using target = await tlsTarget()
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"]
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0"

    const ended = performTask(httpTask(resolved), { url: `https://hooks.example:${target.port}/` }).ended

    await assert.rejects(ended, /self-signed certificate/)
    if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]
    else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before
  })

  test("a certificate from the task's `ca` is trusted for its own name only", async () => {
    await using target = await tlsTarget()
    const trusting = httpTask({ ...resolved, ca: TEST_CERTIFICATE })

    const { details } = await performTask(trusting, { url: `https://hooks.example:${target.port}/` }).ended
    const other = performTask(trusting, { url: `https://other.example:${target.port}/` }).ended

    assert.equal(details["body"], "safe")
    await assert.rejects(other, /does not match certificate/)
  })
})
