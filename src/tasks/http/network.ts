import { lookup as lookUpName } from "node:dns/promises"
import { BelfryError } from "../../core/errors.ts"
import {
  destinationOf,
  formatIp,
  type IpAddress,
  isExactly,
  isInside,
  parseIp,
  parseNetwork,
} from "./ip-address.ts"

/** Resolves a host name. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>

export interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}

export interface NetworkOptions {
  readonly allowNet?: readonly string[] | undefined
  readonly allowPorts?: readonly number[] | undefined
  readonly lookup?: Lookup | undefined
}

/** Decides which addresses a request may go to. Every address that isn't public needs an entry. */
export interface NetworkPolicy {
  /** Why the URL is refused before its name is resolved. Null: no reason so far. */
  refusalOf(url: URL): string | null
  /** Resolves the name once and checks every address, so that the connection goes to a checked address. */
  resolve(url: URL): Promise<readonly ResolvedAddress[]>
}

export function networkPolicy(options: NetworkOptions): NetworkPolicy {
  const { lookup = systemLookup, allowPorts = [] } = options
  const allowed = parseAllowed(options.allowNet ?? [])

  const refusalOf = (url: URL): string | null => {
    if (url.protocol !== "http:" && url.protocol !== "https:")
      return `uses ${url.protocol}, but only http: and https: are possible`
    if (url.username !== "" || url.password !== "")
      return "contains a user name or password; send them in a header, with {{env.NAME}}"
    const port = portOf(url)
    if (isServicePort(port) && !allowPorts.includes(port))
      return `goes to port ${port}, which usually doesn't belong to a web server; list it in \`allowPorts\` to allow it`
    const literal = parseIp(hostOf(url))
    return literal === null ? null : refusalOfAddress(allowed, hostOf(url), literal)
  }

  const resolve = async (url: URL): Promise<readonly ResolvedAddress[]> => {
    const host = hostOf(url)
    const refusal = refusalOf(url)
    if (refusal !== null) throw denied(`The URL ${refusal}.`)
    const literal = parseIp(host)
    if (literal !== null) return [{ address: host, family: literal.family }]
    const found = await lookup(host)
    if (found.length === 0) throw new Error(`The name "${host}" has no address`)
    for (const { address } of found) {
      const parsed = parseIp(address)
      const reason = parsed === null ? `leads to "${address}"` : refusalOfAddress(allowed, host, parsed)
      if (reason !== null) throw denied(`The URL ${reason}.`)
    }
    return found
  }

  return { refusalOf, resolve }
}

/** A payload's author chooses the bytes of a request. Some services execute them (Redis, memcached) or need no login (etcd). */
function isServicePort(port: number): boolean {
  return port < 1_024 ? port !== 80 && port !== 443 : SERVICE_PORTS.has(port)
}

const SERVICE_PORTS: ReadonlySet<number> = new Set([
  // The ports above 1023 that browsers refuse: telephony, NFS, SIP, X11, IRC, mail filters, backup.
  ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679],
  ...[6697, 10080],
  // SQL databases and their poolers.
  ...[1433, 1434, 1521, 3050, 3306, 5432, 5433, 6432, 26257],
  // Other databases, caches and search engines.
  ...[
    5984, 6379, 6380, 7199, 7687, 8529, 9042, 9160, 9200, 9300, 11211, 16379, 26379, 27017, 27018, 27019,
    28015,
  ],
  // Queues and coordination: MQTT, ZooKeeper, etcd, epmd, NATS, AMQP, Consul, Kafka.
  ...[1883, 2181, 2379, 2380, 4222, 4369, 5671, 5672, 8500, 9092],
  // Control of machines: Docker, RDP, VNC, WinRM, kubelet.
  ...[2375, 2376, 3389, 5900, 5985, 5986, 10250, 10255],
])

function denied(message: string): BelfryError {
  return new BelfryError("BELFRY_HTTP_DENIED", message)
}

export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port)
  return url.protocol === "https:" ? 443 : 80
}

/** Without the brackets of IPv6 and the dot that ends a full name. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")
}

async function systemLookup(hostname: string): Promise<readonly ResolvedAddress[]> {
  const found = await lookUpName(hostname, { all: true })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

interface Allowed {
  readonly networks: readonly NonNullable<ReturnType<typeof parseNetwork>>[]
  readonly hosts: readonly string[]
}

function parseAllowed(entries: readonly string[]): Allowed {
  const isHost = (entry: string) => /^(?=.{1,253}$)[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(entry)
  for (const entry of entries) {
    if (parseNetwork(entry) !== null || isHost(entry)) continue
    throw new BelfryError(
      "BELFRY_TASK_INVALID",
      `The allowNet entry ${JSON.stringify(entry)} is neither an address, a network such as "10.0.0.0/8" nor a host name.`,
      { details: { option: "allowNet", value: entry } },
    )
  }
  const networks = entries.map(parseNetwork)
  return {
    networks: networks.filter((network) => network !== null),
    hosts: entries.filter((_, index) => networks[index] === null).map((host) => host.toLowerCase()),
  }
}

function refusalOfAddress(allowed: Allowed, host: string, address: IpAddress): string | null {
  const destination = destinationOf(address)
  const shown = `leads to ${formatIp(destination)}`
  // By address and not by name: the owner of a name can change its address at any time.
  if (METADATA.some((network) => isInside(destination, network))) {
    const isListed = allowed.networks.some((network) => isExactly(network, destination))
    return isListed
      ? null
      : `${shown}, where a cloud serves its credentials; this address needs its own entry in \`allowNet\``
  }
  if (isPublic(destination) || allowed.hosts.includes(host)) return null
  if (allowed.networks.some((network) => isInside(destination, network) || isInside(address, network)))
    return null
  return `${shown}, which is not a public address; list it or "${host}" in \`allowNet\` to allow it`
}

/** An IPv4 address is public unless reserved. An IPv6 address is public if its range has been assigned. */
function isPublic(address: IpAddress): boolean {
  if (address.family === 4) return !RESERVED_4.some((network) => isInside(address, network))
  return isInside(address, GLOBAL_6) && !RESERVED_6.some((network) => isInside(address, network))
}

const networksOf = (...texts: readonly string[]) => texts.map((text) => parseNetwork(text)!)

/** This host, private, CGNAT, loopback, link-local, protocol assignments, examples, benchmarks, multicast, reserved. */
const RESERVED_4 = networksOf(
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"],
  ...["203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
)
const GLOBAL_6 = parseNetwork("2000::/3")!
/** Teredo and other protocol assignments, examples. */
const RESERVED_6 = networksOf("2001::/23", "2001:db8::/32", "3fff::/20")

/** Addresses where AWS, Google, Azure, Alibaba, Oracle, Tencent and Scaleway serve the machine's own credentials. */
const METADATA = networksOf(
  ...["169.254.169.254", "169.254.170.2", "169.254.170.23", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"],
  ...["168.63.129.16", "100.100.100.200", "192.0.0.192", "169.254.0.23", "169.254.42.42"],
)
