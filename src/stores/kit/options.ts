import type { Kind, OptionSource, RequiredKind } from "../../core/options/checked.ts"
import { address } from "../../core/options/kinds.ts"

/** An option that is the address of a server, or a client connected to it. */
export function addressOr<Client extends object>(client: Kind<Client>): RequiredKind<string | Client> {
  const allowed = `${address.allowed} in quotes, or ${client.allowed}`
  return {
    allowed,
    isRequired: true,
    read: (value, at) => {
      if (typeof value === "string") return address.read(value, at)
      return { ...client, allowed }.read(value, at)
    },
  }
}

export function storeSource(subject: string): OptionSource {
  return { code: "BELFRY_STORE_UNFIT", subject }
}
