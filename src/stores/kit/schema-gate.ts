import { BelfryError } from "../../core/errors.ts"

/** Whether the schema needs no migration. Throws if it was made by a newer release: an older one could damage its data. */
export function isCurrentSchema(schema: number, { known, where }: { known: number; where: string }): boolean {
  if (schema <= known) return schema === known
  throw new BelfryError(
    "BELFRY_STORE_SCHEMA_NEWER",
    `${where} is at schema ${schema}; this version of belfry knows ${known}. Upgrade belfry before opening it.`,
    { details: { schema, known } },
  )
}
