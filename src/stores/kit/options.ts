import type { OptionSource, OptionType, RequiredOptionType } from "../../core/options/checked.ts"
import { address } from "../../core/options/option-types.ts"

/** An option that is the address of a server, or a client connected to it. */
export function addressOr<Client extends object>(
  client: OptionType<Client>,
): RequiredOptionType<string | Client> {
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
