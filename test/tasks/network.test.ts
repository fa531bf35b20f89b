import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { BelfryError } from "../../src/index.ts"
import { networkPolicy, type ResolvedAddress } from "../../src/tasks/http/network.ts"
import { httpTask } from "../../src/tasks.ts"

const resolvingTo =
  (...addresses: readonly string[]) =>
  async (): Promise<readonly ResolvedAddress[]> =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))

async function isDenied(url: string, options: Parameters<typeof networkPolicy>[0] = {}): Promise<boolean> {
  try {
    await networkPolicy(options).resolve(new URL(url))
    return false
  } catch (error) {
    if (error instanceof BelfryError && error.code === "BELFRY_HTTP_DENIED") return true
    throw error
  }
}

describe("addresses that are not public are refused in every spelling", () => {
  const hosts = [
    ...[
      "127.0.0.1",
      "127.1",
      "0x7f.1",
      "0x7f000001",
      "2130706433",
      "017700000001",
      "127.0.0.1.",
      "%31%32%37.0.0.1",
    ],
    ...[
      "0",
      "0.0.0.0",
      "10.1.2.3",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "100.64.0.1",
      "169.254.1.1",
    ],
    ...["192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1"],
    ...["240.0.0.1", "255.255.255.255", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[fc00::1]", "[fd12:3456::1]"],
    ...[
      "[fe80::1]",
      "[fec0::1]",
      "[ff02::1]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[::ffff:0:127.0.0.1]",
    ],
    ...["[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::a00:1]", "[64:ff9b:1::1]", "[2002:7f00:1::]"],
    ...["[2002:c0a8:101::1]", "[2001:0:1234::1]", "[2001:db8::1]", "[100::1]", "[3fff::1]", "[5f00::1]"],
    ...["①②⑦.⓪.⓪.①", "127。0。0。1"],
  ]
  for (const host of hosts) {
    test(`http://${host}/ is refused`, async () => {
      assert.equal(await isDenied(`http://${host}/`), true)
    })
  }
})

describe("public addresses are allowed", () => {
  for (const host of [
    "93.184.215.14",
    "1.1.1.1",
    "[2606:4700::1111]",
    "[64:ff9b::1.1.1.1]",
    "[2002:101:101::]",
  ]) {
    test(`http://${host}/ may be called`, async () => {
      assert.equal(await isDenied(`http://${host}/`), false)
    })
  }

  test("the neighbours of the private ranges may be called", async () => {
    const neighbours = [
      "9.255.255.255",
      "11.0.0.0",
      "172.15.255.255",
      "172.32.0.0",
      "100.63.255.255",
      "100.128.0.0",
    ]

    for (const host of neighbours) assert.equal(await isDenied(`http://${host}/`), false, host)
  })
})

describe("names", () => {
  test("a name is refused if any of its addresses is refused", async () => {
    assert.equal(await isDenied("http://x.example/", { lookup: resolvingTo("1.1.1.1") }), false)
    assert.equal(await isDenied("http://x.example/", { lookup: resolvingTo("1.1.1.1", "10.0.0.1") }), true)
    assert.equal(
      await isDenied("http://x.example/", { lookup: resolvingTo("1.1.1.1", "::ffff:a00:1") }),
      true,
    )
    assert.equal(await isDenied("http://x.example/", { lookup: resolvingTo("fe80::1%eth0") }), true)
  })

  test("localhost is refused", async () => {
    assert.equal(await isDenied("http://localhost/"), true)
    assert.equal(await isDenied("http://localhost./"), true)
  })

  test("a resolved address that can't be parsed is refused", async () => {
    assert.equal(await isDenied("http://x.example/", { lookup: resolvingTo("0x7f.1") }), true)
  })

  test("a name is resolved once, and the checked addresses are returned", async () => {
    const answers = [resolvingTo("1.1.1.1"), resolvingTo("127.0.0.1")]
    const policy = networkPolicy({ lookup: () => answers.shift()!() })

    const addresses = await policy.resolve(new URL("http://rebinding.example/"))

    assert.deepEqual(addresses, [{ address: "1.1.1.1", family: 4 }])
    assert.equal(answers.length, 1)
  })
})

describe("allowNet", () => {
  test("an address, a network or a name allows exactly its own addresses", async () => {
    const lookup = resolvingTo("10.1.2.3")

    assert.equal(await isDenied("http://10.1.2.3/", { allowNet: ["10.1.2.3"] }), false)
    assert.equal(await isDenied("http://10.1.2.4/", { allowNet: ["10.1.2.3"] }), true)
    assert.equal(await isDenied("http://10.1.2.4/", { allowNet: ["10.1.0.0/16"] }), false)
    assert.equal(await isDenied("http://10.2.2.4/", { allowNet: ["10.1.0.0/16"] }), true)
    assert.equal(await isDenied("http://[fd00::5]/", { allowNet: ["fd00::/8"] }), false)
    assert.equal(await isDenied("http://Wiki.Internal/", { lookup, allowNet: ["wiki.internal"] }), false)
    assert.equal(await isDenied("http://other.internal/", { lookup, allowNet: ["wiki.internal"] }), true)
    assert.equal(await isDenied("http://x.wiki.internal/", { lookup, allowNet: ["wiki.internal"] }), true)
  })

  test("an IPv4 entry also allows IPv6 addresses that embed its addresses", async () => {
    assert.equal(await isDenied("http://[::ffff:10.1.2.3]/", { allowNet: ["10.0.0.0/8"] }), false)
  })

  test("an address where a cloud serves credentials is allowed only by an entry of exactly that address", async () => {
    const url = "http://169.254.169.254/latest/meta-data/"

    assert.equal(await isDenied(url), true)
    assert.equal(await isDenied(url, { allowNet: ["169.254.0.0/16", "0.0.0.0/0"] }), true)
    assert.equal(await isDenied(url, { allowNet: ["169.254.169.254"] }), false)
    assert.equal(await isDenied("http://[::ffff:169.254.169.254]/", { allowNet: ["::/0"] }), true)
    assert.equal(await isDenied("http://[fd00:ec2::254]/", { allowNet: ["fd00::/8"] }), true)
    assert.equal(await isDenied("http://168.63.129.16/"), true)
  })

  test("an entry of a name doesn't allow such an address, because the name's owner can change its address", async () => {
    const options = { lookup: resolvingTo("169.254.169.254"), allowNet: ["my.internal"] }

    assert.equal(await isDenied("http://my.internal/", options), true)
  })

  test("an allowNet entry that is not an address, network or name is refused", () => {
    for (const entry of ["10.0.0.0/33", "10.0.0.0/8/8", "http://x", "*", "", "::1/129", "a b"])
      assert.throws(() => networkPolicy({ allowNet: [entry] }), { code: "BELFRY_TASK_INVALID" }, entry)
  })
})

describe("ports and schemes", () => {
  test("of the ports below 1024 only 80, 443 and the listed ports may be called", async () => {
    for (const port of [0, 1, 22, 25, 81, 1023]) assert.equal(await isDenied(`http://1.1.1.1:${port}/`), true)
    for (const port of [80, 443, 1024, 8080]) assert.equal(await isDenied(`http://1.1.1.1:${port}/`), false)
    assert.equal(await isDenied("http://1.1.1.1:81/", { allowPorts: [81] }), false)
  })

  test("ports of databases, mail and other services above 1023 may be called only if they are listed", async () => {
    for (const port of [1433, 2375, 2379, 3306, 3389, 5432, 5984, 6000, 6379, 6667, 9200, 11211, 27017]) {
      assert.equal(await isDenied(`http://1.1.1.1:${port}/`), true, `${port}`)
      assert.equal(await isDenied(`http://1.1.1.1:${port}/`, { allowPorts: [port] }), false, `${port}`)
    }
    assert.equal(await isDenied("http://10.1.2.3:6379/", { allowNet: ["10.1.2.3"] }), true)
  })

  test("the refusal of a port names the port and the option", () => {
    assert.match(
      networkPolicy({}).refusalOf(new URL("http://1.1.1.1:5432/"))!,
      /goes to port 5432, .* list it in `allowPorts` to allow it/,
    )
  })

  test("an allowPorts entry that is not a port is refused", () => {
    for (const port of [0, -1, 65_536, 1.5, Number.NaN, "81"])
      assert.throws(
        () => httpTask({ allowPorts: [port as number] }),
        { code: "BELFRY_TASK_INVALID", message: /allowPorts\[0\] is .*; use a whole number from 1 to 65535/ },
        `${port}`,
      )
  })

  test("only http and https may be used, without a user name", async () => {
    for (const url of [
      "file:///etc/passwd",
      "ftp://1.1.1.1/",
      "gopher://1.1.1.1/",
      "data:,x",
      "ws://1.1.1.1/",
    ])
      assert.equal(await isDenied(url), true, url)
    assert.equal(await isDenied("https://user:secret@1.1.1.1/"), true)
  })
})
