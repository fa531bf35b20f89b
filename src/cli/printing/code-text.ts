import { printableJson } from "./printable.ts"

const CONFIG_MODULE = "belfry/config"

/** A configuration as a module. */
export function codeText(config: unknown): string {
  // JSON keeps each key at the beginning of a line. In code a plain "__proto__" would set the prototype instead.
  const literal = printableJson(JSON.stringify(config, null, 2)).replaceAll(
    /^( *)"__proto__":/gm,
    '$1["__proto__"]:',
  )
  return `import { defineConfig } from ${JSON.stringify(CONFIG_MODULE)}\n\nexport default defineConfig(${literal})\n`
}
