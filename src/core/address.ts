/**
 * A server's address as it may be shown: without its password. Some write a password as it is, with an `@` or a `/` in it that
 * should have been encoded. So everything up to the last `@` is taken for it, also where the `//` was forgotten.
 */
export function masked(address: string): string {
  if (!address.includes("://")) return address.replace(/:.*@/s, ":***@")
  return address.replace(/(:\/\/[^:@/]*):.*@/s, "$1:***@").replace(/([?&](?:ssl)?password=)[^&#]*/gi, "$1***")
}

/** Host and path of an address, for messages; null if it has none that could be read. */
export function placeOf(address: string): string | null {
  const shown = masked(address)
  if (!URL.canParse(shown)) return null
  const { host, pathname } = new URL(shown)
  if (host === "") return null
  return `${host}${pathname.replace(/^\/$/, "")}`
}

/** Whether a part of the password would be read as the host: it has a character in it that ends the password. */
export function hasBrokenPassword(address: string): boolean {
  const shown = masked(address)
  if (!URL.canParse(shown)) return false
  return !URL.canParse(address) || new URL(address).host !== new URL(shown).host
}
