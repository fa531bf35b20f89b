/** Prints a declaration without its code: one member per line, each after its comment. */
import ts from "typescript"
import { docComment, docCommentOf, firstSentenceOf } from "./comment.ts"
import { type Declaration, nameSeenFrom, type PublicName } from "./declarations.ts"

export const COLUMNS = 110

export interface SignatureOptions {
  /** False: only the signatures, for a place where the text explains each member. */
  readonly hasComments: boolean
}

export function signatureOf(shown: PublicName, options: SignatureOptions): string {
  return withoutImplementations(shown.declarations)
    .map((declaration) => {
      const holder = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
      return `${commentOf(holder, "", options)}${declarationText(declaration, shown, options)}`
    })
    .join("\n")
}

function declarationText(
  node: Declaration,
  { name, isTypeOnly }: PublicName,
  options: SignatureOptions,
): string {
  if (ts.isFunctionDeclaration(node)) return callText(node, `function ${name}`, "")
  if (ts.isVariableDeclaration(node)) return variableText(node)
  if (ts.isTypeAliasDeclaration(node)) return aliasText(node, name)
  const keyword = ts.isClassDeclaration(node) && !isTypeOnly ? "class" : "interface"
  const head = `${keyword} ${name}${typeParametersOf(node)}${heritageOf(node, keyword)}`
  const members = withoutImplementations<Member>([...node.members])
    .filter((member) => isPublic(member) && !(isTypeOnly && ts.isConstructorDeclaration(member)))
    .map((member) => memberText(member, options))
  if (members.length === 0) return `${head} {}`
  return `${head} {\n${members.join("\n").replace(/^\n/, "")}\n}`
}

function variableText({ name, type, initializer }: ts.VariableDeclaration): string {
  return type === undefined
    ? `const ${name.getText()} = ${initializer!.getText()}`
    : `const ${name.getText()}: ${oneLine(type)}`
}

function aliasText(node: ts.TypeAliasDeclaration, name: string): string {
  const elements = elementsOf(node.type)
  return elements === null
    ? `type ${name}${node.getSourceFile().text.slice(node.name.end, node.end)}`
    : `type ${name} = ${elements.map((element) => element.getText()).join(" | ")}`
}

/** The elements of the list `LIST` if the type is `(typeof LIST)[number]`. */
function elementsOf(type: ts.TypeNode): readonly ts.Expression[] | null {
  const [, list] = type.getText().match(/^\(typeof (\w+)\)\[number\]$/) ?? []
  if (list === undefined) return null
  const [declaration] = nameSeenFrom(type.getSourceFile().fileName, list)?.declarations ?? []
  let value = declaration && ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined
  while (value && (ts.isAsExpression(value) || ts.isSatisfiesExpression(value))) value = value.expression
  return value !== undefined && ts.isArrayLiteralExpression(value) ? value.elements : null
}

/** A class that is exported only as a type is an interface for its users. */
function heritageOf(node: ts.ClassDeclaration | ts.InterfaceDeclaration, keyword: string): string {
  const clauses = node.heritageClauses ?? []
  if (keyword === "class") return clauses.map((clause) => ` ${clause.getText()}`).join("")
  const types = clauses.flatMap((clause) => clause.types.map((type) => oneLine(type)))
  return types.length === 0 ? "" : ` extends ${types.join(", ")}`
}

type Member = ts.TypeElement | ts.ClassElement

function isPublic(member: Member): boolean {
  const isHidden = ts.canHaveModifiers(member) && ts.getModifiers(member)?.some(isPrivate)
  return !isHidden && !(member.name !== undefined && ts.isPrivateIdentifier(member.name))
}

function isPrivate({ kind }: ts.Modifier): boolean {
  return kind === ts.SyntaxKind.PrivateKeyword || kind === ts.SyntaxKind.ProtectedKeyword
}

/** The overloads if there are any. Their common implementation has a signature of its own that callers don't see. */
function withoutImplementations<Node extends ts.Node>(nodes: readonly Node[]): readonly Node[] {
  const nameOf = (node: Node) => ts.isFunctionLike(node) && node.name?.getText()
  const overloaded = new Set(nodes.filter((node) => ts.isFunctionLike(node) && !hasBody(node)).map(nameOf))
  return nodes.filter((node) => !(hasBody(node) && overloaded.has(nameOf(node))))
}

function hasBody(node: ts.Node): boolean {
  return "body" in node && node.body !== undefined
}

function memberText(member: Member, options: SignatureOptions): string {
  const space = options.hasComments && /^\s*?\n\s*?\n/.test(member.getFullText()) ? "\n" : ""
  return `${space}${commentOf(member, "  ", options)}${memberSignature(member)}`
}

function memberSignature(member: Member): string {
  if (ts.isConstructorDeclaration(member)) return callText(member, "  constructor", "  ")
  const name = `${member.name?.getText() ?? ""}${isOptional(member) ? "?" : ""}`
  if (ts.isMethodSignature(member) || ts.isMethodDeclaration(member))
    return callText(member, `  ${name}`, "  ")
  if (ts.isGetAccessor(member)) return `  readonly ${name}: ${oneLine(member.type!)}`
  if (!ts.isPropertySignature(member) && !ts.isPropertyDeclaration(member)) return `  ${oneLine(member)}`
  const isReadonly = ts.getModifiers(member)?.some(({ kind }) => kind === ts.SyntaxKind.ReadonlyKeyword)
  const type = member.type ?? (ts.isPropertyDeclaration(member) ? member.initializer : undefined)
  const line = `  ${isReadonly ? "readonly " : ""}${name}: ${oneLine(type!)}`
  return line.length <= COLUMNS ? line : `  ${member.getText()}`
}

function isOptional(member: Member): boolean {
  return "questionToken" in member && member.questionToken !== undefined
}

/** One line if it fits, else one line for each parameter. */
function callText(node: ts.SignatureDeclaration, name: string, indent: string): string {
  const head = `${name}${typeParametersOf(node)}`
  const parameters = node.parameters.map(parameterText)
  const result = node.type === undefined ? "" : `: ${oneLine(node.type)}`
  const line = `${head}(${parameters.join(", ")})${result}`
  if (line.length <= COLUMNS) return line
  const lines = parameters.map((each) => `${indent}  ${each}${each.startsWith("...") ? "" : ","}\n`)
  return `${head}(\n${lines.join("")}${indent})${result}`
}

function typeParametersOf({ typeParameters }: Pick<ts.SignatureDeclaration, "typeParameters">): string {
  return typeParameters === undefined ? "" : `<${typeParameters.map((each) => oneLine(each)).join(", ")}>`
}

/** A parameter with a default is optional for the caller. */
function parameterText({
  dotDotDotToken,
  name,
  questionToken,
  initializer,
  type,
}: ts.ParameterDeclaration): string {
  const isOptional = questionToken !== undefined || initializer !== undefined
  const shown = type === undefined ? typeOfDefault(initializer!) : oneLine(type)
  return `${dotDotDotToken ? "..." : ""}${name.getText()}${isOptional ? "?" : ""}: ${shown}`
}

function typeOfDefault(value: ts.Expression): string {
  if (ts.isNumericLiteral(value)) return "number"
  if (ts.isStringLiteral(value)) return "string"
  return `typeof ${value.getText()}`
}

const printer = ts.createPrinter({ removeComments: true })

function oneLine(node: ts.Node): string {
  const flatten = (each: ts.Node): void => {
    ts.setEmitFlags(each, ts.EmitFlags.SingleLine)
    ts.forEachChild(each, flatten)
  }
  flatten(node)
  const text = printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile())
  return text.replaceAll(/\s+/g, " ").replaceAll("; }", " }").replace(/;$/, "")
}

/** A property has its whole comment, which is often the only place that gives its default or the meaning of null. */
function commentOf(node: ts.Node, indent: string, { hasComments }: SignatureOptions): string {
  const text = hasComments ? docCommentOf(node) : null
  if (text === null) return ""
  const isProperty = ts.isPropertySignature(node) || ts.isPropertyDeclaration(node) || ts.isGetAccessor(node)
  return docComment(isProperty ? text : firstSentenceOf(text), indent, COLUMNS)
}
