/**
 * The API reference: every export of every entry point with its docstring and declaration, from the sources by the compiler.
 * (typedoc would bring pages, a search and links in a style that differs from the other pages, so it is not used.)
 */
import { join } from 'node:path'
import ts from 'typescript'
import { publishedPackages, readManifest, root } from '../lib/workspace.ts'

export interface DocTag {
  readonly name: string
  readonly text: string
}

/** An export that an entry point documents. */
export interface DocumentedSymbol {
  readonly name: string
  readonly category: string
  readonly code: string
  readonly doc: string
  readonly tags: readonly DocTag[]
}

/** An entry point and its exports. */
export interface ReferenceEntry {
  readonly name: string
  /** Path of its page in the site. */
  readonly url: string
  readonly symbols: readonly DocumentedSymbol[]
  /** Exports that another entry point documents, with the page of that one. */
  readonly others: readonly { readonly name: string; readonly home: string }[]
}

interface EntryPoint {
  readonly name: string
  /** The folder of the sources of its package. */
  readonly folder: string
  readonly url: string
  readonly source: string
}

interface Cut {
  readonly from: number
  readonly to: number
}

/** Entry points of single kinds are generated, one like the other, and have no page. */
const handle = /^\.\/[a-z]+\/v\d/
const longestDeclaration = 300

export function readReference(): ReferenceEntry[] {
  const entries = publishedPackages().flatMap(entryPoints)
  const program = createProgram(entries.map(({ source }) => source))
  const checker = program.getTypeChecker()
  const homes = new Map<ts.Symbol, string>()
  const described = entries.map(({ name, folder, url, source }) => {
    const file = program.getSourceFile(source)
    const module = file === undefined ? undefined : checker.getSymbolAtLocation(file)
    const exported = module === undefined ? [] : checker.getExportsOfModule(module)
    const symbols = exported.map((symbol) => ({ symbol: aliased(symbol, checker), name: symbol.name }))
    for (const { symbol } of symbols) if (isDeclaredIn(symbol, folder) && !homes.has(symbol)) homes.set(symbol, url)
    return { name, url, symbols }
  })
  return described.map(({ name, url, symbols }) => {
    const declared = symbols
      .filter(({ symbol }) => symbol.declarations !== undefined)
      .map((each) => ({ ...each, home: homes.get(each.symbol) ?? url }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    return {
      name,
      url,
      symbols: declared.filter(({ home }) => home === url).map((each) => describe(each.symbol, each.name, checker)),
      others: declared.filter(({ home }) => home !== url),
    }
  })
}

function entryPoints(folder: string): EntryPoint[] {
  const { name, exports = {} } = readManifest(join(root, 'packages', folder))
  // An entry point that exports what another package documents.
  const isOwn = (path: string) => name !== 'krmkit' || path !== './testing'
  return Object.entries(exports).flatMap(([path, target]) => {
    const source = typeof target === 'string' ? undefined : target.source
    if (typeof source !== 'string' || handle.test(path) || !isOwn(path)) return []
    const entry = {
      name: `${name}${path.slice(1)}`,
      folder: join(root, 'packages', folder, 'src').replaceAll('\\', '/'),
      url: `api/${folder}${path.slice(1).replaceAll('/', '-')}.html`,
      source: join(root, 'packages', folder, source).replaceAll('\\', '/'),
    }
    return [entry]
  })
}

function createProgram(rootNames: readonly string[]): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ compilerOptions: config.compilerOptions }, ts.sys, root)
  return ts.createProgram({ rootNames, options: { ...options, noEmit: true, composite: false, declaration: false } })
}

function aliased(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
}

function isDeclaredIn(symbol: ts.Symbol, folder: string): boolean {
  return symbol.declarations?.some((declaration) => declaration.getSourceFile().fileName.startsWith(`${folder}/`)) ?? false
}

function describe(symbol: ts.Symbol, name: string, checker: ts.TypeChecker): DocumentedSymbol {
  const { declarations = [] } = symbol
  const docs = declarations.flatMap((declaration) => ts.getJSDocCommentsAndTags(declaration).filter(ts.isJSDoc))
  const tags = docs
    .flatMap((doc) => [...(doc.tags ?? [])])
    .map((tag) => ({
      name: tag.tagName.text,
      text: `${ts.isJSDocParameterTag(tag) ? `\`${tag.name.getText()}\` ` : ''}${ts.getTextOfJSDocComment(tag.comment) ?? ''}`.trim(),
    }))
  const doc = docs.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '').join('\n\n')
  const code = declarations.map((declaration) => declarationText(declaration, checker)).join('\n\n')
  return { name, category: categoryOf(symbol), code, doc, tags }
}

function categoryOf({ flags }: ts.Symbol): string {
  if (flags & ts.SymbolFlags.Class) return 'class'
  if (flags & ts.SymbolFlags.Function) return 'function'
  if (flags & ts.SymbolFlags.Variable) return 'constant'
  if (flags & ts.SymbolFlags.Interface) return 'interface'
  return 'type'
}

/** The declaration as written, without bodies and private members; the inferred type of a constant. */
function declarationText(node: ts.Declaration, checker: ts.TypeChecker): string {
  if (ts.isVariableDeclaration(node)) {
    const inferred = () => checker.typeToString(checker.getTypeAtLocation(node), node, ts.TypeFormatFlags.None)
    return `const ${node.name.getText()}: ${node.type?.getText() ?? inferred()}`
  }
  const source = node.getSourceFile().text
  const start = node.getStart()
  const cuts = cutsOf(node).sort((a, b) => a.from - b.from)
  let text = ''
  let at = start
  for (const { from, to } of cuts) {
    text += source.slice(at, from)
    at = to
  }
  text += source.slice(at, node.end)
  const lines = text
    .replace(/^export (default )?/, '')
    .replace(/\n\s*\n(?=\s*[\n}])/g, '\n')
    .split('\n')
  return lines.length <= longestDeclaration ? lines.join('\n') : [...lines.slice(0, longestDeclaration), '// and more'].join('\n')
}

/** Ranges of the source of a declaration that callers do not see. */
function cutsOf(node: ts.Declaration): Cut[] {
  if (ts.isFunctionDeclaration(node)) return bodyCut(node.body)
  if (!ts.isClassDeclaration(node)) return []
  return node.members.flatMap((member) => {
    const flags = ts.getCombinedModifierFlags(member)
    const isPrivate =
      (member.name !== undefined && ts.isPrivateIdentifier(member.name)) || (flags & ts.ModifierFlags.Private) !== 0
    if (isPrivate || ts.isClassStaticBlockDeclaration(member)) return [{ from: member.pos, to: member.end }]
    if (ts.isPropertyDeclaration(member) && member.type !== undefined && member.initializer !== undefined) {
      return [{ from: member.type.end, to: member.end }]
    }
    return bodyCut(bodyOf(member))
  })
}

/** The body of a member of a class. */
function bodyOf(member: ts.ClassElement): ts.Node | undefined {
  const hasBody =
    ts.isMethodDeclaration(member) || ts.isConstructorDeclaration(member) || ts.isGetAccessor(member) || ts.isSetAccessor(member)
  return hasBody ? member.body : undefined
}

function bodyCut(body: ts.Node | undefined): Cut[] {
  return body === undefined ? [] : [{ from: body.pos, to: body.end }]
}
