/**
 * A server's address without its password, for messages. A password may contain an `@` or a `/` that should have been encoded.
 * So everything up to the last `@` counts as the password, even if the `//` is missing.
 */
export function masked(address: string): string {
  if (!address.includes("://")) return address.replace(/:.*@/s, ":***@")
  return address.replace(/(:\/\/[^:@/]*):.*@/s, "$1:***@").replace(/([?&](?:ssl)?password=)[^&#]*/gi, "$1***")
}

/** Host and path of an address, for messages. Null if the address can't be parsed or has no host. */
export function placeOf(address: string): string | null {
  const shown = masked(address)
  if (!URL.canParse(shown)) return null
  const { host, pathname } = new URL(shown)
  if (host === "") return null
  return `${host}${pathname.replace(/^\/$/, "")}`
}

/** Whether the password contains an unencoded character that ends it, so that a part of it would be read as the host. */
export function hasBrokenPassword(address: string): boolean {
  const shown = masked(address)
  if (!URL.canParse(shown)) return false
  return !URL.canParse(address) || new URL(address).host !== new URL(shown).host
}
