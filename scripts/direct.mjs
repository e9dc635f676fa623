#!/usr/bin/env node
// `npm run direct`: derives the direct forms (`x.direct.ts`) of modules of pausable functions (`x.ts`); see docs/internals/decisions/0011.
//   npm run direct                    all that exist
//   npm run direct -- path/to/x.ts    a new one, too
//   npm run direct -- --check         fails if one differs from what is derived
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { derive, directPath, pausableNames } from './direct/derive.mjs'
import { root } from './setup.mjs'

const args = process.argv.slice(2)
const checks = args.includes('--check')
const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'packages/*.direct.ts'], {
  cwd: root,
  encoding: 'utf8',
})
const existing = tracked.split('\n').filter((path) => path !== '' && existsSync(join(root, path)))
const sources = new Set(existing.map((path) => path.replace(/\.direct\.ts$/, '.ts')))
for (const path of args) if (!path.startsWith('--')) sources.add(relative(root, join(process.cwd(), path)))

const parsed = new Map()
/** A direct form that does not exist yet declares what its source declares. */
function fileOf(path) {
  if (!parsed.has(path)) {
    const file = existsSync(join(root, path)) ? path : path.replace(/\.direct\.ts$/, '.ts')
    parsed.set(path, ts.createSourceFile(path, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.ESNext, true))
  }
  return parsed.get(path)
}

/** Source file behind a specifier: relative, or a subpath of a package of ours. */
function resolve(from, specifier) {
  if (specifier.startsWith('.')) return join(dirname(from), specifier)
  const [, name, subpath] = /^@krmkit\/([^/]+)(\/.+)?$/.exec(specifier) ?? []
  if (name === undefined) return undefined
  const { exports } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
  const entry = exports[`.${subpath ?? ''}`]
  return entry === undefined ? undefined : join('packages', name, entry.source)
}

/** The module that declares what an index exports under a name. */
function declaringModule(path, name, seen = new Set()) {
  if (seen.has(path)) return undefined
  seen.add(path)
  for (const statement of fileOf(path).statements) {
    if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) continue
    const target = resolve(path, statement.moduleSpecifier.text)
    if (target === undefined || !existsSync(join(root, target))) continue
    const { exportClause } = statement
    if (exportClause === undefined) {
      const found = declaringModule(target, name, seen)
      if (found !== undefined) return found
    } else if (ts.isNamedExports(exportClause)) {
      const element = exportClause.elements.find((each) => each.name.text === name)
      if (element !== undefined) return declaringModule(target, (element.propertyName ?? element.name).text, seen)
    }
  }
  const declares = fileOf(path).statements.some((statement) => statement.name?.text === name || declaresVariable(statement, name))
  return declares ? { path, name } : undefined
}

function declaresVariable(statement, name) {
  return ts.isVariableStatement(statement) && statement.declarationList.declarations.some((each) => each.name.getText() === name)
}

const modules = {
  resolve,
  pausable(path) {
    const names = new Set()
    if (!existsSync(join(root, path))) return names // a direct form that is derived later
    const file = fileOf(path)
    for (const name of pausableNames(file)) names.add(name)
    for (const statement of file.statements) {
      if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) continue
      for (const { name } of statement.exportClause.elements) {
        const found = declaringModule(path, name.text)
        if (found !== undefined && pausableNames(fileOf(found.path)).has(found.name)) names.add(name.text)
      }
    }
    return names
  },
  directSpecifier(specifier, name) {
    if (specifier.startsWith('.')) return undefined
    const [, pkg] = /^@krmkit\/([^/]+)/.exec(specifier)
    const { exports } = JSON.parse(readFileSync(join(root, 'packages', pkg, 'package.json'), 'utf8'))
    for (const [subpath, entry] of Object.entries(exports)) {
      if (typeof entry !== 'object' || entry.source === undefined) continue
      const found = declaringModule(join('packages', pkg, entry.source), name)
      if (found?.path.endsWith('.direct.ts')) return `@krmkit/${pkg}${subpath.slice(1)}`
    }
    return undefined
  },
}

function modulesFor(path) {
  return {
    ...modules,
    directSpecifier(specifier, name) {
      if (!specifier.startsWith('.')) return modules.directSpecifier(specifier, name)
      return sources.has(resolve(path, specifier)) ? directPath(specifier) : undefined
    },
  }
}

const before = new Map()
const outputs = []
for (const path of [...sources].sort()) {
  const output = join(root, directPath(path))
  before.set(output, existsSync(output) ? readFileSync(output, 'utf8') : undefined)
  writeFileSync(output, derive(path, readFileSync(join(root, path), 'utf8'), modulesFor(path)))
  outputs.push(output)
}
if (outputs.length > 0) {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  execFileSync(process.execPath, [biome, 'check', '--write', '--diagnostic-level=error', ...outputs], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
const changed = outputs.filter((path) => readFileSync(path, 'utf8') !== before.get(path))
if (checks) {
  for (const path of changed) writeFileSync(path, before.get(path) ?? '')
  for (const path of changed) console.error(`${relative(root, path)} differs from what \`npm run direct\` derives`)
  process.exitCode = changed.length === 0 ? 0 : 1
} else console.log(`${outputs.length} direct forms, ${changed.length} changed`)
