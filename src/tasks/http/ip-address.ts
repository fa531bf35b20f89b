import { isIPv4, isIPv6 } from "node:net"

/** An address as a number, so that all spellings of an address compare equal. */
export interface IpAddress {
  readonly family: 4 | 6
  readonly value: bigint
}

/** A network in CIDR notation. A single address is a network of one. */
export interface Network {
  readonly first: IpAddress
  readonly prefix: number
}

const BITS = { 4: 32n, 6: 128n } as const

/** Null: the text isn't an address. A zone (`%eth0`) names an interface, not the destination, and is ignored. */
export function parseIp(text: string): IpAddress | null {
  const bare = text.split("%", 1)[0]!
  if (isIPv4(bare)) return { family: 4, value: valueOf4(bare) }
  return isIPv6(bare) ? { family: 6, value: valueOf6(bare) } : null
}

function valueOf4(text: string): bigint {
  return text.split(".").reduce((value, part) => value * 256n + BigInt(part), 0n)
}

function valueOf6(text: string): bigint {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  const hex = dotted === null ? text : `${dotted[1]}${hexGroups(valueOf4(dotted[2]!))}`
  const [head = "", tail] = hex.split("::") as [string, string | undefined]
  const groupsOf = (part: string) => (part === "" ? [] : part.split(":"))
  const before = groupsOf(head)
  const after = groupsOf(tail ?? "")
  const between = Array.from({ length: 8 - before.length - after.length }, () => "0")
  return [...before, ...between, ...after].reduce(
    (value, group) => value * 65_536n + BigInt(`0x${group}`),
    0n,
  )
}

function hexGroups(value4: bigint): string {
  return `${(value4 >> 16n).toString(16)}:${(value4 & 0xffffn).toString(16)}`
}

/** For messages: dotted IPv4, or all eight groups of IPv6. */
export function formatIp({ family, value }: IpAddress): string {
  const [count, bits, radix, separator] = family === 4 ? [4, 8n, 10, "."] : [8, 16n, 16, ":"]
  const part = (index: number) => (value >> (bits * BigInt(count - 1 - index))) & ((1n << bits) - 1n)
  return Array.from({ length: count }, (_, index) => part(index).toString(radix)).join(separator)
}

/** Null: the text is neither an address nor a network. */
export function parseNetwork(text: string): Network | null {
  const [address = "", prefix, ...rest] = text.split("/")
  const first = parseIp(address)
  if (first === null || rest.length > 0) return null
  const bits = Number(BITS[first.family])
  if (prefix === undefined) return { first, prefix: bits }
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits ? { first, prefix: Number(prefix) } : null
}

/** True if the network consists of this one address. */
export function isExactly(network: Network, address: IpAddress): boolean {
  return BigInt(network.prefix) === BITS[address.family] && isInside(address, network)
}

export function isInside(address: IpAddress, { first, prefix }: Network): boolean {
  if (address.family !== first.family) return false
  const shift = BITS[address.family] - BigInt(prefix)
  return address.value >> shift === first.value >> shift
}

/**
 * The address that traffic finally reaches. IPv6 has several ways to embed an IPv4 address, and each would bypass a check
 * of IPv4 ranges: mapped, translated, compatible, NAT64 and 6to4.
 */
export function destinationOf(address: IpAddress): IpAddress {
  if (address.family === 4) return address
  const { value } = address
  const embedding = EMBEDDINGS.find(({ network }) => isInside(address, network))
  // `::` and `::1` are in the range of compatible addresses, but embed no IPv4 address.
  if (embedding === undefined || value <= 1n) return address
  return { family: 4, value: (value >> embedding.shift) & 0xffff_ffffn }
}

const EMBEDDINGS = [
  { network: "::ffff:0:0/96", shift: 0n },
  { network: "::ffff:0:0:0/96", shift: 0n },
  { network: "::/96", shift: 0n },
  { network: "64:ff9b::/96", shift: 0n },
  { network: "2002::/16", shift: 80n },
].map(({ network, shift }) => ({ network: parseNetwork(network)!, shift }))
