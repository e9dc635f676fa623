/** What the sources of the workspace declare and export, as the deriver of direct forms needs it. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { type Manifest, readManifest, root } from '../lib/workspace.ts'
import { declaredNames, directPath, type Modules, pausableNames, specifierOf } from './derive.ts'

interface Declaration {
  readonly path: string
  readonly name: string
}

export class SourceModules implements Modules {
  readonly #sources: ReadonlySet<string>
  readonly #parsed = new Map<string, ts.SourceFile>()

  /** @param sources the modules that have a direct form */
  constructor(sources: ReadonlySet<string>) {
    this.#sources = sources
  }

  resolve(from: string, specifier: string): string | undefined {
    if (specifier.startsWith('.')) return join(dirname(from), specifier)
    const [, name, subpath = ''] = /^@krmkit\/([^/]+)(\/.+)?$/.exec(specifier) ?? []
    if (name === undefined) return undefined
    const source = sourcesOf(name).get(`.${subpath}`)
    return source === undefined ? undefined : join('packages', name, source)
  }

  pausable(path: string): ReadonlySet<string> {
    const names = new Set<string>()
    if (!existsSync(join(root, path))) return names // a direct form that is derived later
    const file = this.#fileOf(path)
    for (const name of pausableNames(file)) names.add(name)
    for (const statement of file.statements) {
      if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) continue
      if (!ts.isNamedExports(statement.exportClause)) continue
      for (const { name } of statement.exportClause.elements) {
        const found = this.#declaringModule(path, name.text)
        if (found !== undefined && pausableNames(this.#fileOf(found.path)).has(found.name)) names.add(name.text)
      }
    }
    return names
  }

  directSpecifier(from: string, specifier: string, name: string): string | undefined {
    if (specifier.startsWith('.')) return this.#sources.has(join(dirname(from), specifier)) ? directPath(specifier) : undefined
    const [, pkg = ''] = /^@krmkit\/([^/]+)/.exec(specifier) ?? []
    for (const [subpath, source] of sourcesOf(pkg)) {
      const found = this.#declaringModule(join('packages', pkg, source), name)
      if (found?.path.endsWith('.direct.ts')) return `@krmkit/${pkg}${subpath.slice(1)}`
    }
    return undefined
  }

  /** A direct form that does not exist yet declares what its source declares. */
  #fileOf(path: string): ts.SourceFile {
    const known = this.#parsed.get(path)
    if (known !== undefined) return known
    const file = existsSync(join(root, path)) ? path : path.replace(/\.direct\.ts$/, '.ts')
    const parsed = ts.createSourceFile(path, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.ESNext, true)
    this.#parsed.set(path, parsed)
    return parsed
  }

  /** The module that declares what an index exports under a name. */
  #declaringModule(path: string, name: string, seen = new Set<string>()): Declaration | undefined {
    if (seen.has(path)) return undefined
    seen.add(path)
    const { statements } = this.#fileOf(path)
    for (const statement of statements) {
      if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) continue
      const target = this.resolve(path, specifierOf(statement.moduleSpecifier))
      if (target === undefined || !existsSync(join(root, target))) continue
      const { exportClause } = statement
      if (exportClause === undefined) {
        const found = this.#declaringModule(target, name, seen)
        if (found !== undefined) return found
      } else if (ts.isNamedExports(exportClause)) {
        const element = exportClause.elements.find((each) => each.name.text === name)
        if (element !== undefined) return this.#declaringModule(target, (element.propertyName ?? element.name).text, seen)
      }
    }
    return statements.some((statement) => declaredNames(statement).includes(name)) ? { path, name } : undefined
  }
}

/** The source files of the entry points of a package, by the path of the entry point. */
function sourcesOf(name: string): Map<string, string> {
  const { exports = {} }: Manifest = readManifest(join(root, 'packages', name))
  return new Map(
    Object.entries(exports).flatMap(([path, entry]): [string, string][] =>
      typeof entry === 'object' && typeof entry.source === 'string' ? [[path, entry.source]] : [],
    ),
  )
}
