import { randomBytes } from "node:crypto"
import { inject } from "vitest"

/** An unused prefix on the server that the project's files share. Its keys are deleted when the run ends. */
export function freshPrefix(): { readonly url: string; readonly prefix: string } {
  const { url, prefix } = inject("redis")
  return { url, prefix: `${prefix}-${randomBytes(6).toString("hex")}` }
}
