import assert from "node:assert/strict"
import { test } from "vitest"
import type { BelfryError, Duration, Json } from "../../src/index.ts"
import { httpTask } from "../../src/tasks.ts"
import { performTask } from "../support/task-run.ts"

const task = httpTask({ env: ["TOKEN"] })

async function refusalOf(payload: Json): Promise<string> {
  const error = await performTask(task, payload).ended.then(
    () => assert.fail("the payload was accepted"),
    (thrown: BelfryError) => thrown,
  )
  assert.equal(error.code, "BELFRY_PAYLOAD_INVALID", error.message)
  return error.message
}

test("a schedule with a URL that the http task may not call is refused when it is declared", () => {
  assert.throws(() => task.schedule("ping", { cron: "@hourly", payload: { url: "http://localhost:22/" } }), {
    code: "BELFRY_PAYLOAD_INVALID",
  })
  assert.throws(
    () => task.schedule("ping", { cron: "@hourly", payload: { url: "http://169.254.169.254/" } }),
    /credentials/,
  )
})

test("a payload without a valid URL is refused", async () => {
  assert.match(await refusalOf(null), /expected an object/)
  assert.match(await refusalOf([]), /expected an object, received a list/)
  assert.match(await refusalOf({}), /url: expected a string, received nothing/)
  assert.match(await refusalOf({ url: "example.com" }), /url: is not a URL/)
  assert.match(await refusalOf({ url: "file:///etc/passwd" }), /only http: and https: are possible/)
  assert.match(await refusalOf({ url: "https://me:pw@example.com" }), /user name or password/)
  assert.match(await refusalOf({ url: `https://example.com/${"x".repeat(9_000)}` }), /longer than 8192/)
})

test("an unknown field is refused by its name", async () => {
  assert.match(
    await refusalOf({ url: "https://example.com", followRedirects: true }),
    /followRedirects: is not a known field/,
  )
  const polluting = JSON.parse('{"url":"https://example.com","__proto__":{"method":"PUT"}}') as Json
  assert.match(await refusalOf(polluting), /__proto__: is not a known field/)
})

test("an unknown method, and a body with GET, are refused", async () => {
  assert.match(
    await refusalOf({ url: "https://example.com", method: "CONNECT" }),
    /method: expected one of GET/,
  )
  assert.match(
    await refusalOf({ url: "https://example.com", method: "GET", body: "x" }),
    /body: GET sends no body/,
  )
})

test("headers of the connection and of the task are refused, and so are line breaks", async () => {
  for (const name of [
    "Host",
    "Content-Length",
    "Transfer-Encoding",
    "Proxy-Authorization",
    "Webhook-Id",
    "Idempotency-Key",
  ])
    assert.match(
      await refusalOf({ url: "https://example.com", headers: { [name]: "x" } }),
      /can't be set by a payload/,
    )
  assert.match(
    await refusalOf({ url: "https://example.com", headers: { a: "b\r\nc: d" } }),
    /characters that are not allowed in a header/,
  )
  assert.match(
    await refusalOf({ url: "https://example.com", headers: { "a b": "c" } }),
    /not the name of a header/,
  )
  assert.match(
    await refusalOf({ url: "https://example.com", headers: { a: 1 } }),
    /expected a string, received a number/,
  )
})

test("line breaks and other control characters in a URL are refused, although a URL parser would drop them", async () => {
  for (const url of [
    "https://example.com/a\r\nx: 1",
    "https://exam\nple.com/",
    "https://example.com/\t",
    "\nhttps://example.com/",
    "https://example.com/\u0000",
    "https://example.com/\u007f",
    "{{env.TOKEN}}/a\nb",
  ])
    assert.match(
      await refusalOf({ url }),
      /url: contains a line break or another control character/,
      JSON.stringify(url),
    )
})

test("a timeout longer than the task's is refused", async () => {
  const brief = httpTask({ timeout: "20s" })
  const schedule = (timeout: Duration) =>
    brief.schedule("ping", { cron: "@hourly", payload: { url: "https://example.com", timeout } })

  assert.throws(() => schedule("21s"), {
    code: "BELFRY_PAYLOAD_INVALID",
    message: /timeout: "21s" is more than the task allows, 20s; raise `timeout` of the task/,
  })
  assert.doesNotThrow(() => schedule("20s"))
  assert.match(
    await refusalOf({ url: "https://example.com", timeout: 31_000 }),
    /timeout: 31000 is more than/,
  )
})

test("invalid timeouts and statuses are refused", async () => {
  assert.match(
    await refusalOf({ url: "https://example.com", timeout: "soon" }),
    /timeout: The timeout "soon" is not a duration/,
  )
  assert.match(await refusalOf({ url: "https://example.com", timeout: 0 }), /timeout: must be longer than 0/)
  for (const expectStatus of [
    99,
    600,
    "2xx",
    [],
    [200, "x"],
    { from: 300, to: 200 },
    { from: 200 },
    { from: 200, to: 299, x: 1 },
  ])
    assert.match(
      await refusalOf({ url: "https://example.com", expectStatus }),
      /expectStatus: expected a status/,
    )
})

test("a reference to a variable that is not in the task's list is refused in every field", async () => {
  const allowed = { url: "https://example.com/{{env.TOKEN}}", timeout: 1 }
  await assert.rejects(performTask(task, allowed).ended, /TOKEN is not set/)
  for (const payload of [
    { url: "https://example.com/{{env.PATH}}" },
    { url: "https://{{env.PATH}}/" },
    { url: "https://example.com", headers: { a: "{{ env.PATH }}" } },
    { url: "https://example.com", body: { deep: [{ "{{env.PATH}}": 1 }] } },
  ])
    assert.match(await refusalOf(payload), /refers to the variable PATH, which is not in the `env` list/)
})

test("a secret instead of a variable's name is refused without being shown", async () => {
  const message = await refusalOf({ url: "https://example.com", secret: "whsec_c2VjcmV0" })

  assert.match(message, /secret: expected the name of a variable/)
  assert.ok(!message.includes("c2VjcmV0"))
})
