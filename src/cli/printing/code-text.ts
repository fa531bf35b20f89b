import { printableJson } from "./printable.ts"

const CONFIG_MODULE = "belfry/config"

/** A configuration as a module. */
export function codeText(config: unknown): string {
  // In code a plain "__proto__" key would set the prototype. In indented JSON each key begins a line, so the pattern finds
  // them all.
  const literal = printableJson(JSON.stringify(config, null, 2)).replaceAll(
    /^( *)"__proto__":/gm,
    '$1["__proto__"]:',
  )
  return `import { defineConfig } from ${JSON.stringify(CONFIG_MODULE)}\n\nexport default defineConfig(${literal})\n`
}
