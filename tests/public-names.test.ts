import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { manifestOf, packageFolders, root } from './source-files.ts'

/** A name that two packages export means the same in both. */

/** Names with two declarations, and why. */
const exceptions: Readonly<Record<string, string>> = {
  createApiServer: 'the server of krmkit also has a client, and takes the place of the one of apiserver (decision 0003)',
  BootstrapTokenSecret: 'the members of a Secret that both packages read; neither may import the other',
}

/** Where a name is declared: `packages/meta/src/path.ts#Path`. */
type Declaration = string

/** The API itself names the types of its versions, and entry points such as `kinds/rbac/v1` keep them apart. */
const isApiType = (declaration: Declaration) => declaration.includes('.generated.ts#')

describe('public names', () => {
  const packages = packageFolders().filter((name) => name !== 'testing')
  const byName = new Map<string, Map<Declaration, string[]>>()
  for (const folder of packages) {
    const { exports = {} } = manifestOf(`packages/${folder}`)
    for (const [entry, target] of Object.entries(exports)) {
      const source = typeof target === 'string' ? undefined : target.source
      if (source === undefined) continue
      const entryPoint = join('@krmkit', folder, entry)
      for (const [name, declaration] of exportsOf(join('packages', folder, source))) {
        if (isApiType(declaration)) continue
        const declarations = byName.get(name) ?? new Map<Declaration, string[]>()
        byName.set(name, declarations.set(declaration, [...(declarations.get(declaration) ?? []), entryPoint]))
      }
    }
  }
  const clashes = [...byName].flatMap(([name, declarations]) => {
    const owners = new Set([...declarations.keys()].map((declaration) => declaration.split('/')[1]))
    return owners.size < 2 ? [] : [`${name}: ${[...declarations].map(([at, from]) => `${at} (${from.join(', ')})`).join('; ')}`]
  })

  it('are found', () => {
    expect(byName.size).toBeGreaterThan(1000)
  })

  it('mean the same in every package', () => {
    expect(clashes.filter((clash) => !(clash.slice(0, clash.indexOf(':')) in exceptions))).toEqual([])
  })

  it('have no exception that is not needed', () => {
    const names = new Set(clashes.map((clash) => clash.slice(0, clash.indexOf(':'))))
    expect(Object.keys(exceptions).filter((name) => !names.has(name))).toEqual([])
  })
})

/** The exports of a module: name -> declaration. */
function exportsOf(file: string): ReadonlyMap<string, Declaration> {
  const known = exported.get(file)
  if (known !== undefined) return known
  const found = new Map<string, Declaration>()
  exported.set(file, found)
  const text = readFileSync(join(root, file), 'utf8')
  const { statements } = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const imports = new Map<string, Declaration>()
  for (const statement of statements) if (ts.isImportDeclaration(statement)) addImports(file, statement, imports)
  for (const statement of statements) {
    if (ts.isExportDeclaration(statement)) addReexports(file, statement, { imports, found })
    else if (hasExportModifier(statement)) for (const name of declaredNames(statement)) found.set(name, `${file}#${name}`)
  }
  return found
}

const exported = new Map<string, Map<string, Declaration>>()

function addImports(
  file: string,
  { importClause, moduleSpecifier }: ts.ImportDeclaration,
  imports: Map<string, Declaration>,
): void {
  const bindings = importClause?.namedBindings
  if (bindings === undefined || !ts.isNamedImports(bindings)) return
  for (const { name, propertyName } of bindings.elements)
    imports.set(name.text, declarationIn(file, moduleSpecifier, (propertyName ?? name).text))
}

function addReexports(
  file: string,
  { exportClause, moduleSpecifier }: ts.ExportDeclaration,
  { imports, found }: { readonly imports: ReadonlyMap<string, Declaration>; readonly found: Map<string, Declaration> },
): void {
  if (exportClause === undefined) {
    const target = moduleFile(file, moduleSpecifier)
    for (const [name, declaration] of target === undefined ? [] : exportsOf(target)) found.set(name, declaration)
  } else if (ts.isNamespaceExport(exportClause)) found.set(exportClause.name.text, `${file}#${exportClause.name.text}`)
  else
    for (const { name, propertyName } of exportClause.elements) {
      const own = (propertyName ?? name).text
      const declaration =
        moduleSpecifier === undefined ? (imports.get(own) ?? `${file}#${own}`) : declarationIn(file, moduleSpecifier, own)
      found.set(name.text, declaration)
    }
}

function declarationIn(file: string, specifier: ts.Expression, name: string): Declaration {
  const target = moduleFile(file, specifier)
  return target === undefined ? `modules/${specifier.getText()}#${name}` : (exportsOf(target).get(name) ?? `${target}#${name}`)
}

/** The source of a module of the workspace; undefined for other modules. */
function moduleFile(file: string, specifier: ts.Expression | undefined): string | undefined {
  if (specifier === undefined || !ts.isStringLiteral(specifier)) return undefined
  const { text } = specifier
  if (text.startsWith('.')) return relative(root, join(root, dirname(file), text))
  const [, folder, entry = ''] = /^(?:@krmkit\/)?([\w-]+)(?:\/(.+))?$/.exec(text) ?? []
  if (folder === undefined || !existsSync(join(root, 'packages', folder))) return undefined
  const target = manifestOf(`packages/${folder}`).exports?.[entry === '' ? '.' : `./${entry}`]
  const source = typeof target === 'object' ? target.source : undefined
  return source === undefined ? undefined : join('packages', folder, source)
}

function hasExportModifier(statement: ts.Statement): boolean {
  return (
    ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
  )
}

function declaredNames(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []))
  const { name } = statement as ts.Statement & { readonly name?: ts.Node }
  return name !== undefined && ts.isIdentifier(name) ? [name.text] : []
}
