import ts from 'typescript'
import { type Edit, edited, isMemberName } from './edits.ts'
import { withForIn, withoutCounters } from './tidy.ts'

/** What the deriver knows of other modules. Paths are relative to the root. */
export interface Modules {
  /** The source file behind a specifier of a module. */
  resolve(from: string, specifier: string): string | undefined
  /** The pausable names that a module exports. */
  pausable(path: string): ReadonlySet<string>
  /** The module from which a module imports the direct form of a name, if there is one. */
  directSpecifier(from: string, specifier: string, name: string): string | undefined
}

interface Imported {
  readonly specifier: string
  /** The name in the imported module. */
  readonly imported: string
  readonly type: boolean
}

/** A module whose direct form is derived. */
interface Source {
  readonly path: string
  readonly file: ts.SourceFile
  /** Pausable names of the module itself. */
  readonly local: ReadonlySet<string>
  readonly imports: ReadonlyMap<string, Imported>
  /** Pausable names that it imports, and where their direct forms are imported from. */
  readonly direct: Map<string, string | undefined>
  /** Whether the direct form runs a pausable function at once. */
  runsAtOnce: boolean
}

/**
 * The direct form of a module of pausable functions: the same functions without pauses, for small objects.
 *
 * `function*` loses its star, `yield* f(x)` becomes `f(x)`, a plain `yield` goes with the condition and the counter that belong to it alone,
 * and `Work<T>` becomes `T`. Everything else of the module is imported from it. A pausable function that has no direct form runs at once.
 *
 * A condition on `.paced` whose two outcomes become equal goes, too, and so does what remembers the names of large objects for later work
 * with pauses.
 *
 * @param path of the source, relative to the root
 * @returns TypeScript, unformatted
 */
export function derive(path: string, text: string, modules: Modules): string {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)
  const source: Source = {
    ...{ path, file, local: pausableNames(file), imports: importsOf(file) },
    ...{ direct: new Map(), runsAtOnce: false },
  }
  for (const [name, { specifier, imported }] of source.imports) {
    const target = modules.resolve(path, specifier)
    if (target !== undefined && modules.pausable(target).has(imported))
      source.direct.set(name, modules.directSpecifier(path, specifier, imported))
  }
  const parts = file.statements
    .filter((statement) => source.local.has(declaredNames(statement)[0] ?? ''))
    .map((statement) => `${docOf(file, statement)}${withForIn(withoutCounters(directSource(source, statement)))}`)
  if (parts.length === 0) throw new Error(`${path}: no pausable function`)
  const body = parts.join('\n\n')
  return `// Derived from ${fileName(path)} by \`npm run direct\`: do not edit.\n${importLines(source, body)}\n${body}\n`
}

function docOf(file: ts.SourceFile, statement: ts.Statement): string {
  const comments = ts.getLeadingCommentRanges(file.text, statement.getFullStart()) ?? []
  const doc = comments.filter(({ pos }) => file.text.startsWith('/**', pos)).at(-1)
  return doc === undefined ? '' : `${file.text.slice(doc.pos, doc.end)}\n`
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function fault({ path, file }: Source, node: ts.Node, message: string): Error {
  const { line } = file.getLineAndCharacterOfPosition(node.getStart(file))
  return new Error(`${path}:${line + 1}: ${message}`)
}

/** The text of a node in its direct form. */
function directSource(source: Source, node: ts.Node): string {
  const { file } = source
  if (ts.isYieldExpression(node)) return directYield(source, node)
  if (ts.isTypeReferenceNode(node) && node.typeName.getText(file) === 'Work')
    return node.typeArguments?.[0] === undefined ? 'void' : directSource(source, node.typeArguments[0])
  if (isDropped(node)) return ''
  const only = onlyOutcome(source, node)
  if (only !== undefined) return only
  const edits: Edit[] = []
  ts.forEachChild(node, (child) => {
    const isStar = child.kind === ts.SyntaxKind.AsteriskToken && ts.isFunctionLike(node)
    const after = isStar ? '' : directSource(source, child)
    // The comment above a pause goes with it.
    const comments = isDropped(child) ? ts.getLeadingCommentRanges(file.text, child.getFullStart()) : undefined
    const from = comments?.[0]?.pos ?? child.getStart(file)
    if (after !== file.text.slice(from, child.getEnd())) edits.push([from, child.getEnd(), after])
  })
  return edited(file.text, { start: node.getStart(file), end: node.getEnd() }, edits)
}

function directYield(source: Source, node: ts.YieldExpression): string {
  const { expression } = node
  if (node.asteriskToken === undefined) throw fault(source, node, 'a yield whose value is used has no direct form')
  if (expression === undefined || !ts.isCallExpression(expression))
    throw fault(source, node, 'yield* needs a call, which says what runs')
  const { expression: callee } = expression
  const text = directSource(source, expression)
  if (!ts.isIdentifier(callee)) {
    const members = callee.getText(source.file)
    return /\.paced\??\./.test(members) ? text.replace(/\??\.paced\b/, '') : atOnce(source, text)
  }
  const isParameter = !source.local.has(callee.text) && !source.imports.has(callee.text)
  const isDirect = isParameter || source.local.has(callee.text) || source.direct.get(callee.text) !== undefined
  return isDirect ? text : atOnce(source, text)
}

/** What a choice between the pausable and the direct form of an operation becomes. */
function onlyOutcome(source: Source, node: ts.Node): string | undefined {
  const choice = choiceOf(node)
  if (choice === undefined) return undefined
  const [condition, first, second] = choice
  if (!/\.paced\b/.test(condition.getText(source.file))) return undefined
  const outcome = directSource(source, first)
  return outcome === directSource(source, second) ? outcome : undefined
}

function choiceOf(node: ts.Node): readonly [condition: ts.Expression, first: ts.Node, second: ts.Node] | undefined {
  if (ts.isConditionalExpression(node)) return [node.condition, node.whenTrue, node.whenFalse]
  if (!ts.isIfStatement(node) || node.elseStatement === undefined) return undefined
  return [node.expression, node.thenStatement, node.elseStatement]
}

function atOnce(source: Source, text: string): string {
  source.runsAtOnce = true
  return `runAtOnce(${text})`
}

/** Whether a statement only pauses, with the condition that decides it. */
function isDropped(node: ts.Node): boolean {
  if (isPause(node) || isRemembering(node)) return true
  if (ts.isBlock(node) && ts.isIfStatement(node.parent)) return node.statements.length > 0 && node.statements.every(isDropped)
  return (
    ts.isIfStatement(node) && isDropped(node.thenStatement) && (node.elseStatement === undefined || isDropped(node.elseStatement))
  )
}

function isPause(node: ts.Node): boolean {
  return ts.isExpressionStatement(node) && ts.isYieldExpression(node.expression) && node.expression.asteriskToken === undefined
}

function importLines(source: Source, code: string): string {
  const { path, file, local, imports, direct } = source
  const wanted = new Map<string, string[]>()
  const add = (specifier: string, entry: string) => wanted.set(specifier, [...(wanted.get(specifier) ?? []), entry])
  const used = usedNames(code)
  if (source.runsAtOnce && !imports.has('runAtOnce')) add('@krmkit/base/work', 'runAtOnce')
  for (const name of used) {
    const from = imports.get(name)
    if (from !== undefined) {
      const entry = from.imported === name ? name : `${from.imported} as ${name}`
      add(direct.get(name) ?? from.specifier, from.type ? `type ${entry}` : entry)
      continue
    }
    const declaration = file.statements.find((statement) => declaredNames(statement).includes(name))
    if (declaration === undefined || local.has(name)) continue
    if (!isExported(declaration)) throw fault(source, declaration, `${name} must be exported: the direct form uses it`)
    add(`./${fileName(path)}`, isType(declaration) ? `type ${name}` : name)
  }
  return [...wanted].map(([specifier, names]) => `import { ${names.join(', ')} } from '${specifier}'\n`).join('')
}

/** The pausable declarations of a module: functions, and types that mention `Work`. */
export function pausableNames(file: ts.SourceFile): Set<string> {
  const names = new Set<string>()
  for (const statement of file.statements) {
    const [name] = declaredNames(statement)
    if (name === undefined) continue
    if (ts.isFunctionDeclaration(statement) && (statement.asteriskToken || isWork(statement.type))) names.add(name)
    else if (ts.isVariableStatement(statement)) {
      const initializer = statement.declarationList.declarations[0]?.initializer
      if (initializer !== undefined && ts.isArrowFunction(initializer) && isWork(initializer.type)) names.add(name)
      else if (initializer !== undefined && ts.isFunctionExpression(initializer) && initializer.asteriskToken) names.add(name)
    } else if (isType(statement) && /\bWork\b/.test(statement.getText(file))) names.add(name)
  }
  return names
}

function isWork(type: ts.TypeNode | undefined): boolean {
  return type !== undefined && ts.isTypeReferenceNode(type) && type.typeName.getText() === 'Work'
}

function isType(statement: ts.Statement): statement is ts.InterfaceDeclaration | ts.TypeAliasDeclaration {
  return ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)
}

function isExported(statement: ts.Statement): boolean {
  return (
    ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
  )
}

/** The names that a statement declares. */
export function declaredNames(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []))
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
    return statement.name === undefined ? [] : [statement.name.text]
  return ts.isEnumDeclaration(statement) || isType(statement) ? [statement.name.text] : []
}

/** The module that an import or export names. */
export function specifierOf(node: ts.Expression): string {
  return ts.isStringLiteral(node) ? node.text : ''
}

function importsOf(file: ts.SourceFile): Map<string, Imported> {
  const found = new Map<string, Imported>()
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement)) continue
    const clause = statement.importClause
    const bindings = clause?.namedBindings
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue
    for (const { name, propertyName, isTypeOnly } of bindings.elements) {
      const imported = (propertyName ?? name).text
      const type = isTypeOnly || clause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      found.set(name.text, { specifier: specifierOf(statement.moduleSpecifier), imported, type })
    }
  }
  return found
}

/** Names that code uses as variables or types, not as members. */
function usedNames(code: string): Set<string> {
  const file = ts.createSourceFile('code.ts', code, ts.ScriptTarget.ESNext, true)
  const names = new Set<string>()
  const visit = (node: ts.Node) => {
    if (ts.isIdentifier(node) && !isMemberName(node)) names.add(node.text)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return names
}

function isRemembering(node: ts.Node): boolean {
  return (
    ts.isExpressionStatement(node) &&
    ts.isCallExpression(node.expression) &&
    /^remember[A-Z]/.test(node.expression.expression.getText())
  )
}

/** The path or specifier of the direct form of a module. */
export function directPath(path: string): string {
  return path.replace(/\.ts$/, '.direct.ts')
}
