/**
 * Generates the signatures in `docs/reference/api.md` from the code: `npx tsx scripts/api-signatures.ts`. The page says where
 * each signature is: a comment names the entry point and the names to show.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { nameSeenFrom, type PublicName, publicNamesOf } from "./signatures/declarations.ts"
import { signatureOf } from "./signatures/signature.ts"

export const API_REFERENCE = fileURLToPath(new URL("../docs/reference/api.md", import.meta.url))

const PLACE =
  /(<!-- signatures of (\S+?)(, without comments)?:([\w\s,]+)-->\n).*?(<!-- end of signatures -->)/gs

/** The page with each of its signatures as the code has it. */
export function withSignatures(page: string): string {
  return page.replaceAll(
    PLACE,
    (_all, start: string, entry: string, quiet: string, names: string, end: string) => {
      const options = { hasComments: quiet === undefined }
      const signatures = shownAt(entry, names).map((each) => signatureOf(each, options))
      return `${start}~~~ts\n${joined(signatures)}\n~~~\n${end}`
    },
  )
}

/** The names whose signatures the page shows. */
export function shownOn(page: string): readonly PublicName[] {
  return [...page.matchAll(PLACE)].flatMap(([, , entry, , names]) => shownAt(entry!, names!))
}

function shownAt(entry: string, names: string): readonly PublicName[] {
  const exported = publicNamesOf(entry)
  const shown: PublicName[] = []
  for (const name of names.split(",").map((each) => each.trim())) {
    const found = exported.get(name) ?? innerType(name, [...shown, ...exported.values()])
    if (found === null) throw new Error(`${entry} has no ${name}`)
    shown.push(found)
  }
  return shown
}

/** A type that the entry point doesn't export but uses in an exported signature: the first that a file of `users` knows. */
function innerType(name: string, users: readonly PublicName[]): PublicName | null {
  for (const { file } of users) {
    const seen = nameSeenFrom(file, name)
    if (seen !== null) return { ...seen, isTypeOnly: true }
  }
  return null
}

/** An empty line between declarations, except between those of one line. */
function joined(signatures: readonly string[]): string {
  return signatures.reduce((text, each, index) => {
    const isGroup = !`${signatures[index - 1]}${each}`.includes("\n")
    return `${text}${isGroup ? "\n" : "\n\n"}${each}`
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(API_REFERENCE, withSignatures(readFileSync(API_REFERENCE, "utf8")))
