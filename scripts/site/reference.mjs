// The API reference: every export of every entry point with its docstring and declaration, from the sources by the compiler.
// (typedoc would bring pages, a search and links in a style that differs from the other pages, so it is not used.)
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from '../setup.mjs'

/** Entry points of single kinds are generated, one like the other, and have no page. */
const handle = /^\.\/[a-z]+\/v\d/
const longestDeclaration = 300

/**
 * @returns the entry points: `{ name, url, symbols }`; a symbol is `{ name, category, code, doc, tags, home }`, where `home` is the
 * entry point that documents it when that is another one
 */
export function readReference() {
  const entries = readdirSync(join(root, 'packages')).sort().flatMap(entryPoints)
  const program = createProgram(entries.map(({ source }) => source))
  const checker = program.getTypeChecker()
  const homes = new Map()
  const described = entries.map(({ name, folder, url, source }) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(source))
    const exported = module === undefined ? [] : checker.getExportsOfModule(module)
    const symbols = exported.map((symbol) => ({ symbol: aliased(symbol, checker), name: symbol.name }))
    for (const { symbol } of symbols) if (isDeclaredIn(symbol, folder) && !homes.has(symbol)) homes.set(symbol, url)
    return { name, url, symbols }
  })
  return described.map(({ name, url, symbols }) => ({
    name,
    url,
    symbols: symbols
      .filter(({ symbol }) => symbol.declarations !== undefined)
      .map(({ symbol, name: exportedName }) => describe(symbol, exportedName, { checker, url, home: homes.get(symbol) ?? url }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  }))
}

function entryPoints(folder) {
  const manifest = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))
  // An entry point that exports what another package documents.
  const isOwn = (path) => manifest.name !== 'krmkit' || path !== './testing'
  return Object.entries(manifest.exports)
    .filter(([path, target]) => typeof target === 'object' && target.source !== undefined && !handle.test(path) && isOwn(path))
    .map(([path, { source }]) => ({
      name: `${manifest.name}${path.slice(1)}`,
      folder: join(root, 'packages', folder, 'src').replaceAll('\\', '/'),
      url: `api/${folder}${path.slice(1).replaceAll('/', '-')}.html`,
      source: join(root, 'packages', folder, source).replaceAll('\\', '/'),
    }))
}

function createProgram(rootNames) {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ compilerOptions: config.compilerOptions }, ts.sys, root)
  return ts.createProgram({ rootNames, options: { ...options, noEmit: true, composite: false, declaration: false } })
}

function aliased(symbol, checker) {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
}

function isDeclaredIn(symbol, folder) {
  return symbol.declarations?.some((declaration) => declaration.getSourceFile().fileName.startsWith(`${folder}/`)) ?? false
}

function describe(symbol, name, { checker, url, home }) {
  if (home !== url) return { name, category: categoryOf(symbol), home }
  const docs = symbol.declarations.flatMap((declaration) => ts.getJSDocCommentsAndTags(declaration).filter(ts.isJSDoc))
  const tags = docs
    .flatMap((doc) => [...(doc.tags ?? [])])
    .map((tag) => ({
      name: tag.tagName.text,
      text: `${ts.isJSDocParameterTag(tag) ? `\`${tag.name.getText()}\` ` : ''}${ts.getTextOfJSDocComment(tag.comment) ?? ''}`.trim(),
    }))
  const doc = docs.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '').join('\n\n')
  const code = symbol.declarations.map((declaration) => declarationText(declaration, checker)).join('\n\n')
  return { name, category: categoryOf(symbol), code, doc, tags, home: url }
}

function categoryOf({ flags }) {
  if (flags & ts.SymbolFlags.Class) return 'class'
  if (flags & ts.SymbolFlags.Function) return 'function'
  if (flags & ts.SymbolFlags.Variable) return 'constant'
  if (flags & ts.SymbolFlags.Interface) return 'interface'
  return 'type'
}

/** The declaration as written, without bodies and private members; the inferred type of a constant. */
function declarationText(node, checker) {
  if (ts.isVariableDeclaration(node) && node.type === undefined) {
    return `const ${node.name.getText()}: ${checker.typeToString(checker.getTypeAtLocation(node), node, ts.TypeFormatFlags.None)}`
  }
  if (ts.isVariableDeclaration(node)) return `const ${node.name.getText()}: ${node.type.getText()}`
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
function cutsOf(node) {
  if (ts.isFunctionDeclaration(node)) return bodyCut(node)
  if (!ts.isClassDeclaration(node)) return []
  return node.members.flatMap((member) => {
    const flags = ts.getCombinedModifierFlags(member)
    const isPrivate =
      (member.name !== undefined && ts.isPrivateIdentifier(member.name)) || (flags & ts.ModifierFlags.Private) !== 0
    if (isPrivate || ts.isClassStaticBlockDeclaration(member)) return [{ from: member.pos, to: member.end }]
    if (ts.isPropertyDeclaration(member) && member.type !== undefined && member.initializer !== undefined) {
      return [{ from: member.type.end, to: member.end }]
    }
    return bodyCut(member)
  })
}

function bodyCut({ body }) {
  return body === undefined ? [] : [{ from: body.pos, to: body.end }]
}
