import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { manifestOf, packageFolders, root, sourceFiles } from './source-files.ts'

/**
 * Each public function has an `@example`, or a `{@link}` to a symbol that has one; each `@example` compiles as a module that
 * imports the packages by name.
 */

/** The text of an `@example`, and where it stands. */
interface Example {
  readonly module: string
  readonly file: string
  /** Line of the tag, from 1. */
  readonly line: number
  readonly code: string
}

const packages = packageFolders()
const examples = packages.flatMap((name) => sourceFiles(`packages/${name}/src`).flatMap(examplesOf))
const program = createProgram()
const checker = program.getTypeChecker()

describe.each(packages)('%s', (name) => {
  const exported = exportsOf(name)
  const known = new Map(exported.map((symbol) => [symbol.name, symbol]))
  const missing = exported
    .filter(isFunction)
    .filter((symbol) => !hasExample(symbol) && !linksOf(symbol, known).some(hasExample))
    .map(describeSymbol)
  const failures = examples.filter(({ file }) => file.startsWith(`packages/${name}/`)).flatMap(errorsOf)

  it('shows each public function in an example', () => expect(missing).toEqual([]))

  it('has examples that compile', () => expect(failures).toEqual([]))
})

/** Every `@example` of a source file, without the fences of a code block. */
function examplesOf(file: string): Example[] {
  const text = readFileSync(join(root, file), 'utf8')
  if (file.endsWith('.test.ts') || !text.includes('@example')) return []
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true)
  const found = new Map<number, Example>()
  const visit = (node: ts.Node) => {
    for (const tag of ts.getJSDocTags(node).filter(({ tagName }) => tagName.text === 'example')) {
      const line = source.getLineAndCharacterOfPosition(tag.pos).line + 1
      const code = (ts.getTextOfJSDocComment(tag.comment) ?? '').replace(/^```(ts)?$/gm, '').trim()
      const name = file.replaceAll('/', '.').replace(/ts$/, `${line}.ts`)
      const module = join(root, 'tests', '.examples', name).replaceAll('\\', '/')
      found.set(tag.pos, { module, file, line, code })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return [...found.values()]
}

/** One program of all entry points, and of all examples as modules of a folder outside the packages. */
function createProgram(): ts.Program {
  const path = join(root, 'tsconfig.base.json')
  const { config } = ts.readConfigFile(path, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ compilerOptions: config.compilerOptions }, ts.sys, root)
  const settings = { ...options, noEmit: true, composite: false, declaration: false, noUnusedLocals: false }
  const host = ts.createCompilerHost(settings)
  const { fileExists, readFile, getSourceFile } = host
  const modules = new Map(examples.map(({ module, code }) => [module, `${code}\nexport {}\n`]))
  host.fileExists = (name) => modules.has(name) || fileExists(name)
  host.readFile = (name) => modules.get(name) ?? readFile(name)
  host.getSourceFile = (name, languageOptions, ...rest) => {
    const text = modules.get(name)
    return text === undefined ? getSourceFile(name, languageOptions, ...rest) : ts.createSourceFile(name, text, languageOptions)
  }
  const entries = packages.flatMap(entriesOf)
  return ts.createProgram({ rootNames: [...entries, ...modules.keys()], options: settings, host })
}

function entriesOf(name: string): string[] {
  const entries = Object.values(manifestOf(`packages/${name}`).exports ?? {})
  return entries.flatMap((entry) => (typeof entry === 'string' ? [] : [join(root, 'packages', name, entry.source ?? '')]))
}

/** What the entry points of a package export and the package itself declares. */
function exportsOf(name: string): ts.Symbol[] {
  const found = new Set<ts.Symbol>()
  for (const entry of entriesOf(name)) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry)!)
    for (const symbol of module === undefined ? [] : checker.getExportsOfModule(module)) {
      const declared = aliased(symbol)
      if (fileOf(declared).startsWith(`packages/${name}/`)) found.add(declared)
    }
  }
  return [...found]
}

/** An exported function, or a constant that can be called. */
function isFunction({ valueDeclaration }: ts.Symbol): boolean {
  if (valueDeclaration === undefined) return false
  if (ts.isFunctionDeclaration(valueDeclaration)) return true
  return ts.isVariableDeclaration(valueDeclaration) && checker.getTypeAtLocation(valueDeclaration).getCallSignatures().length > 0
}

function hasExample(symbol: ts.Symbol): boolean {
  return symbol.getJsDocTags(checker).some(({ name }) => name === 'example')
}

/** The symbols that the docstring of a symbol links to: by the scope of its module, or by name among the exports of its package. */
function linksOf(symbol: ts.Symbol, known: ReadonlyMap<string, ts.Symbol>): ts.Symbol[] {
  const found: ts.Symbol[] = []
  const visit = (node: ts.Node) => {
    if (ts.isJSDocLink(node) && node.name !== undefined) {
      const target = checker.getSymbolAtLocation(node.name) ?? known.get(node.name.getText())
      if (target !== undefined) found.push(aliased(target))
    }
    node.getChildren().forEach(visit)
  }
  for (const declaration of symbol.declarations ?? []) for (const doc of ts.getJSDocCommentsAndTags(declaration)) visit(doc)
  return found
}

function aliased(symbol: ts.Symbol): ts.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
}

/** The file that declares a symbol, from the root. */
function fileOf(symbol: ts.Symbol): string {
  return symbol.declarations?.[0]?.getSourceFile().fileName.slice(root.length) ?? ''
}

function describeSymbol(symbol: ts.Symbol): string {
  return `${fileOf(symbol)}: ${symbol.name}`
}

/** What the compiler says about an example, with the lines of its file. */
function errorsOf({ module, file, line, code }: Example): string[] {
  if (code === '') return [`${file}:${line}: the example is empty`]
  const source = program.getSourceFile(module)!
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
    ({ start = 0, messageText }) => {
      const text = source.text.split('\n')[source.getLineAndCharacterOfPosition(start).line]
      return `${file}:${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')} [${text}]`
    },
  )
}
