import { isIPv4, isIPv6 } from "node:net"

/** An address as a number, so that every spelling of it is the same. */
export interface IpAddress {
  readonly family: 4 | 6
  readonly value: bigint
}

/** A network in CIDR notation; an address alone is a network of one. */
export interface Network {
  readonly first: IpAddress
  readonly prefix: number
}

const BITS = { 4: 32n, 6: 128n } as const

/** Null if the text is no address. A zone (`%eth0`) says where to send, not whom to reach, and is left out. */
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

/** For people: dotted, or eight groups in full. */
export function formatIp({ family, value }: IpAddress): string {
  const [count, bits, radix, separator] = family === 4 ? [4, 8n, 10, "."] : [8, 16n, 16, ":"]
  const part = (index: number) => (value >> (bits * BigInt(count - 1 - index))) & ((1n << bits) - 1n)
  return Array.from({ length: count }, (_, index) => part(index).toString(radix)).join(separator)
}

/** Null if the text is neither an address nor a network. */
export function parseNetwork(text: string): Network | null {
  const [address = "", prefix, ...rest] = text.split("/")
  const first = parseIp(address)
  if (first === null || rest.length > 0) return null
  const bits = Number(BITS[first.family])
  if (prefix === undefined) return { first, prefix: bits }
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits ? { first, prefix: Number(prefix) } : null
}

/** True if the network is this one address. */
export function isExactly(network: Network, address: IpAddress): boolean {
  return BigInt(network.prefix) === BITS[address.family] && isInside(address, network)
}

export function isInside(address: IpAddress, { first, prefix }: Network): boolean {
  if (address.family !== first.family) return false
  const shift = BITS[address.family] - BigInt(prefix)
  return address.value >> shift === first.value >> shift
}

/**
 * The address that traffic ends at. IPv6 has several ways to carry an IPv4 address, and each would walk around a check
 * of IPv4 ranges: mapped, translated, compatible, NAT64 and 6to4.
 */
export function destinationOf(address: IpAddress): IpAddress {
  if (address.family === 4) return address
  const { value } = address
  const carries = CARRIERS.find(({ network }) => isInside(address, network))
  // `::` and `::1` lie in the range of compatible addresses and are addresses of their own.
  if (carries === undefined || value <= 1n) return address
  return { family: 4, value: (value >> carries.shift) & 0xffff_ffffn }
}

const CARRIERS = [
  { network: "::ffff:0:0/96", shift: 0n },
  { network: "::ffff:0:0:0/96", shift: 0n },
  { network: "::/96", shift: 0n },
  { network: "64:ff9b::/96", shift: 0n },
  { network: "2002::/16", shift: 80n },
].map(({ network, shift }) => ({ network: parseNetwork(network)!, shift }))
