import { randomBytes } from "node:crypto"
import { inject } from "vitest"

/** Where nothing is yet, on the server that the project's files share. It goes when the run ends. */
export function freshPrefix(): { readonly url: string; readonly prefix: string } {
  const { url, prefix } = inject("redis")
  return { url, prefix: `${prefix}-${randomBytes(6).toString("hex")}` }
}
