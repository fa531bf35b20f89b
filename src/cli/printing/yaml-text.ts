import { hasUnsafe, printableJson } from "./printable.ts"

/** YAML that is safe for a terminal: texts with control characters are quoted and escaped. */
export async function yamlText(value: unknown): Promise<string> {
  const { Document, visit } = await import("yaml")
  const document = new Document(JSON.parse(JSON.stringify(value)))
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === "string" && hasUnsafe(node.value)) node.type = "QUOTE_DOUBLE"
    },
  })
  return printableJson(document.toString({ lineWidth: 110 }))
}
