import assert from "node:assert/strict"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { afterEach, beforeEach, test, vi } from "vitest"
import { type FaultProxy, faultProxy } from "./fault-proxy.ts"
import { PATIENCE_MS } from "./patience.ts"

/** Against a server that records each request and answers "done". */

const server = createServer({ allowHalfOpen: true }, (socket) => {
  open.add(socket)
  socket.on("close", () => open.delete(socket))
  socket.on("error", () => undefined)
  socket.on("end", () => socket.end())
  socket.on("data", (bytes) => {
    requests.push(bytes.toString())
    socket.write("done")
  })
})
const requests: string[] = []
const open = new Set<Socket>()
const clients: Socket[] = []
/** A write of it ends only when the other end has read some: the system's buffers hold about 10 MB. */
const MORE_THAN_IS_BUFFERED = Buffer.alloc(32 * 1024 * 1024)
let proxy: FaultProxy

beforeEach(async () => {
  requests.length = 0
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  proxy = await faultProxy((server.address() as AddressInfo).port)
})

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  await proxy.close()
  await new Promise((resolve) => server.close(resolve))
})

test("without a fault, requests and answers pass, and closing one end closes the other", async () => {
  const client = await connected()

  assert.equal(await answerTo(client, "hello"), "done")

  client.end()
  await once(client, "close")
  await vi.waitFor(() => assert.equal(open.size, 0), PATIENCE_MS)
  assert.deepEqual(requests, ["hello"])
})

test("an address through the proxy differs in its port only", () => {
  const address = proxy.through("postgres://me:secret@127.0.0.1:5432/belfry?application_name=test")

  assert.equal(address, `postgres://me:secret@127.0.0.1:${proxy.port}/belfry?application_name=test`)
})

test("a delay applies to the request and to the answer", async () => {
  const client = await connected()
  proxy.delay(50)
  const startedAt = performance.now()

  await answerTo(client, "hello")

  assert.ok(performance.now() - startedAt >= 100)
})

test("bytes stay in order when the delay becomes shorter", async () => {
  const client = await connected()
  proxy.delay(100)
  client.write("first, ")
  await pass(20)
  proxy.delay(0)

  client.write("second")
  await vi.waitFor(() => assert.equal(requests.join("").length, "first, second".length), PATIENCE_MS)

  assert.equal(requests.join(""), "first, second")
})

test("refuse() rejects new connections and keeps existing ones", async () => {
  const before = await connected()
  await answerTo(before, "one")

  proxy.refuse()
  await assert.rejects(connected(), { code: "ECONNREFUSED" })
  assert.equal(await answerTo(before, "two"), "done")

  await proxy.mend()
  assert.equal(await answerTo(await connected(), "three"), "done")
})

test("a black hole loses requests and answers, and hides that an end was closed", async () => {
  const [client, leaving] = [await connected(), await connected()]
  for (const each of [client, leaving]) await answerTo(each, "before")
  proxy.blackhole()

  client.write("into the hole")
  for (const socket of open) socket.write("from the hole")
  leaving.end()

  assert.equal(await Promise.race([once(client, "data"), pass(100)]), undefined)
  assert.deepEqual([requests, open.size], [["before", "before"], 2])
})

test("connections that lost bytes to a black hole break when it ends, and idle ones stay", async () => {
  const [busy, idle] = [await connected(), await connected()]
  for (const each of [busy, idle]) await answerTo(each, "before")
  proxy.blackhole()
  await new Promise((written) => busy.write(MORE_THAN_IS_BUFFERED, written))

  await proxy.mend()

  assert.equal(await endOf(busy), "ECONNRESET")
  assert.equal(await answerTo(idle, "after"), "done")
  assert.deepEqual(requests, ["before", "before", "after"])
})

test("silenced connections stay silent after mend(), and new ones work", async () => {
  const silent = await connected()
  await answerTo(silent, "before")

  proxy.silence()
  silent.write("unheard")
  for (const socket of open) socket.write("unheard")
  await proxy.mend()

  assert.equal(await answerTo(await connected(), "after"), "done")
  assert.equal(await Promise.race([once(silent, "data"), once(silent, "close"), pass(100)]), undefined)
  assert.deepEqual(requests, ["before", "after"])
})

test("a cut breaks all connections, and new ones are accepted", async () => {
  const both = [await connected(), await connected()]
  for (const each of both) await answerTo(each, "before")

  proxy.cut()

  assert.deepEqual(await Promise.all(both.map(endOf)), ["ECONNRESET", "ECONNRESET"])
  assert.equal(await answerTo(await connected(), "after"), "done")
})

test("a lost request never reaches the server, and only the first matching one is lost", async () => {
  const client = await connected()
  const lost = proxy.loseRequest("commit")
  await answerTo(client, "insert")

  client.write("commit")

  assert.equal(await endOf(client), "ECONNRESET")
  await lost
  assert.deepEqual(requests, ["insert"])
  assert.equal(await answerTo(await connected(), "commit"), "done")
})

test("a lost answer was sent by the server and never reaches the client", async () => {
  const client = await connected()
  const lost = proxy.loseAnswer((bytes) => bytes.toString() === "commit")
  await answerTo(client, "insert")
  const received: Buffer[] = []
  client.on("data", (bytes) => received.push(bytes))

  client.write("commit")

  assert.equal(await endOf(client), "ECONNRESET")
  await lost
  assert.deepEqual([requests, received], [["insert", "commit"], []])
  assert.equal(await answerTo(await connected(), "commit"), "done")
})

test("the connection breaks if there is no server", async () => {
  await using nowhere = await faultProxy(1)

  assert.equal(await endOf(await connected(nowhere.port)), "ECONNRESET")
})

async function connected(port = proxy.port): Promise<Socket> {
  const client = connect({ port, host: "127.0.0.1", noDelay: true })
  clients.push(client)
  await once(client, "connect")
  client.on("error", () => undefined)
  return client
}

async function answerTo(client: Socket, request: string): Promise<string> {
  client.write(request)
  const [bytes] = (await once(client, "data")) as [Buffer]
  return bytes.toString()
}

/** How the connection ends: an error code if it breaks, undefined if the other end closes it. */
function endOf(client: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    client.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code))
    client.once("close", () => resolve(undefined))
  })
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
