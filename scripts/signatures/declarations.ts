/**
 * Finds the declarations of public names by following exports and imports from file to file. It reads only the text of the
 * sources and computes no types, so it takes milliseconds.
 */
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

const SOURCES = fileURLToPath(new URL("../../src", import.meta.url))

/** The entry points of the package: `belfry`, `belfry/cron` and so on. */
export const ENTRIES: readonly string[] = Object.keys(packageExports())
  .filter((path) => path !== "./package.json")
  .map((path) => path.replace(".", "belfry"))

function packageExports(): Readonly<Record<string, unknown>> {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8")
  return (JSON.parse(text) as { exports: Record<string, unknown> }).exports
}

export type Declaration =
  | ts.FunctionDeclaration
  | ts.ClassDeclaration
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.VariableDeclaration

/** A public name. A function with overloads has several declarations. */
export interface PublicName {
  readonly name: string
  /** The file that declares it. */
  readonly file: string
  /** True for `export type`: a class can then not be constructed, and a function not called. */
  readonly isTypeOnly: boolean
  readonly declarations: readonly Declaration[]
}

const entries = new Map<string, ReadonlyMap<string, PublicName>>()

/** Everything that an entry point such as `belfry/cron` exports, by name. */
export function publicNamesOf(entry: string): ReadonlyMap<string, PublicName> {
  const file = entry === "belfry" ? "index" : entry.replace("belfry/", "")
  const names =
    entries.get(entry) ?? new Map(exportsOf(join(SOURCES, `${file}.ts`)).map((each) => [each.name, each]))
  entries.set(entry, names)
  return names
}

/** A name as a file sees it: declared in the file, imported or exported. Null: the file doesn't know it. */
export function nameSeenFrom(file: string, name: string): PublicName | null {
  const declarations = parsed(file).statements.flatMap(declarationsIn).filter(isNamed(name))
  if (declarations.length > 0) return { name, file, isTypeOnly: false, declarations }
  for (const statement of parsed(file).statements) {
    const source = sourceNamedBy(statement, file)
    const inner = innerNameOf(name, statement)
    const seen = source === null || inner === null ? null : nameSeenFrom(source, inner)
    if (seen !== null) return { ...seen, name }
  }
  return null
}

/** What the source of an import or export calls the name. Null: the statement doesn't give the name. */
function innerNameOf(name: string, statement: ts.Statement): string | null {
  if (ts.isExportDeclaration(statement) && statement.exportClause === undefined) return name
  const found = specifiersOf(statement).find((each) => each.name.text === name)
  return found === undefined ? null : (found.propertyName ?? found.name).text
}

function exportsOf(file: string): readonly PublicName[] {
  return parsed(file).statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return reexportsOf(statement, file)
    const isExported = ts.canHaveModifiers(statement) && hasExport(statement)
    const names = new Set(isExported ? declarationsIn(statement).map(({ name }) => name!.getText()) : [])
    return [...names].map((name) => nameSeenFrom(file, name)!)
  })
}

function reexportsOf(statement: ts.ExportDeclaration, file: string): readonly PublicName[] {
  const source = sourceNamedBy(statement, file)
  if (source === null) return []
  const asExported = (each: PublicName, isTypeOnly: boolean) => ({
    ...each,
    isTypeOnly: each.isTypeOnly || statement.isTypeOnly || isTypeOnly,
  })
  if (statement.exportClause === undefined) return exportsOf(source).map((each) => asExported(each, false))
  return specifiersOf(statement).map(({ name, propertyName, isTypeOnly }) => {
    const found = nameSeenFrom(source, (propertyName ?? name).text)
    if (found === null) throw new Error(`${source} doesn't export ${name.text}`)
    return { ...asExported(found, isTypeOnly), name: name.text }
  })
}

function specifiersOf(statement: ts.Statement): readonly (ts.ImportSpecifier | ts.ExportSpecifier)[] {
  const bindings = ts.isImportDeclaration(statement)
    ? statement.importClause?.namedBindings
    : ts.isExportDeclaration(statement)
      ? statement.exportClause
      : undefined
  return bindings !== undefined && (ts.isNamedImports(bindings) || ts.isNamedExports(bindings))
    ? [...bindings.elements]
    : []
}

/** The file that a statement imports or exports from. Null: there is none, or it is part of another package. */
function sourceNamedBy(statement: ts.Statement, file: string): string | null {
  if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return null
  const { moduleSpecifier } = statement
  const isOurs =
    moduleSpecifier !== undefined &&
    ts.isStringLiteral(moduleSpecifier) &&
    moduleSpecifier.text.startsWith(".")
  return isOurs ? join(dirname(file), moduleSpecifier.text) : null
}

function declarationsIn(statement: ts.Statement): readonly Declaration[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations
  const isDeclaration =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement)
  return isDeclaration ? [statement] : []
}

function isNamed(wanted: string): (declaration: Declaration) => boolean {
  return ({ name }) => name !== undefined && ts.isIdentifier(name) && name.text === wanted
}

function hasExport(node: ts.HasModifiers): boolean {
  return ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false
}

const files = new Map<string, ts.SourceFile>()

function parsed(path: string): ts.SourceFile {
  const file =
    files.get(path) ?? ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true)
  files.set(path, file)
  return file
}
