import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** Reads the sources of the workspace with the compiler, for tests of the conventions. */

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Files of an entry point by condition. */
export interface EntryPoint {
  readonly source?: string
  readonly types?: string
  readonly default?: string
  /** Files for browsers, if they differ. */
  readonly browser?: Omit<EntryPoint, 'browser'>
}

export interface Manifest {
  readonly name: string
  readonly version?: string
  readonly private?: boolean
  readonly license?: string
  readonly type?: string
  readonly description?: string
  readonly engines?: Readonly<Record<string, string>>
  readonly sideEffects?: boolean
  readonly files?: readonly string[]
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, string | EntryPoint>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly repository?: { readonly type: string; readonly url: string; readonly directory?: string }
  readonly keywords?: readonly string[]
  readonly homepage?: string
  readonly scripts?: Readonly<Record<string, string>>
}

export interface Import {
  /** Path of the importing file from the root. */
  readonly file: string
  readonly from: string
  readonly typeOnly: boolean
  /** A test, or a helper of tests. */
  readonly inTest: boolean
}

/** The folders of the published packages below `packages`, by name. */
export function packageFolders(): string[] {
  return readdirSync(join(root, 'packages'))
    .filter((name) => manifestOf(`packages/${name}`).private !== true)
    .sort()
}

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest
}

/** Every TypeScript file below a folder, as paths from the root. Generated files only with `generated`. */
export function sourceFiles(folder: string, { generated = false } = {}): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
    .filter((path) => generated || !path.endsWith('.generated.ts'))
    .map((path) => join(folder, path).replaceAll('\\', '/'))
    .sort()
}

/** The imports and re-exports of a file, including `import()`. */
export function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  const inTest = /\.test(-d)?\.ts$/.test(file) || file.includes('/testing/')
  const found: Import[] = []
  const add = (from: ts.Expression | undefined, typeOnly: boolean) => {
    if (from !== undefined && ts.isStringLiteral(from)) found.push({ file, from: from.text, typeOnly, inTest })
  }
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, false)
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) add(statement.moduleSpecifier, isTypeOnly(statement.importClause))
    else if (ts.isExportDeclaration(statement)) add(statement.moduleSpecifier, statement.isTypeOnly)
  }
  for (const match of text.matchAll(/\bimport\(\s*'([^'\n]+)'/g)) found.push({ file, from: match[1]!, typeOnly: false, inTest })
  return found
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false
  if (clause.isTypeOnly) return true
  const { name, namedBindings } = clause
  return (
    name === undefined &&
    namedBindings !== undefined &&
    ts.isNamedImports(namedBindings) &&
    namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly)
  )
}

/** `@scope/name` or `name`, without a sub-path. */
export function packageNameOf(specifier: string): string {
  const parts = specifier.split('/')
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!
}

/** The written pages of the documentation, as sorted paths from the root; generated ones and decisions are not among them. */
export function documentPages(): string[] {
  const folders = ['docs/guide', 'docs/operate', 'docs/reference', 'docs/internals']
  return folders.flatMap((folder) => {
    const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'))
    return names.sort().map((name) => `${folder}/${name}`)
  })
}
