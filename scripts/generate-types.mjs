#!/usr/bin/env node
// Generates the TypeScript types of the built-in kinds from packages/kinds/src/data, a KindHandle value with the name of each kind, the model
// in parts, and the sub-path exports of packages/kinds/package.json.
// Hover texts are in scripts/types/docs; strategies are listed in packages/kinds/src/strategies/index.ts.
//   node scripts/generate-types.mjs            # write
//   node scripts/generate-types.mjs --check    # only report whether the files are up to date
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { fileOf, header, model, readFacts, readPolicyNames } from './types/facts.mjs'
import { handleImports, handlesOf, handlesText } from './types/handle-text.mjs'
import { partFile, partsText } from './types/part-text.mjs'
import { fromMeta, typesText } from './types/type-text.mjs'

const root = fileURLToPath(new URL('../', import.meta.url))
const kinds = path.join(root, 'packages/kinds')
const to = path.join(kinds, 'src/types')

const facts = model(readFacts(path.join(kinds, 'src/data')))
const policies = readPolicyNames(path.join(kinds, 'src/strategies/index.ts'))
const files = new Map()
for (const at of facts.modules) {
  files.set(path.join(to, fileOf(at)), moduleText(at))
}
for (const at of partModules()) files.set(path.join(to, partFile(at)), partsText(at, facts))
files.set(path.join(kinds, 'package.json'), manifestText(facts.modules))
process.exitCode = process.argv.includes('--check') ? check() : write()

function moduleText(at) {
  const { body, imports } = typesText(at, { ...facts, docs: readDocs(at) })
  const typeImports = [...imports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([module, names]) => {
      const listed = [...names].sort().map(([type, as]) => (type === as ? type : `${type} as ${as}`))
      return `import type { ${listed.join(', ')} } from '${module}'\n`
    })
  const handles = handlesOf(at, { ...facts, policies })
  const again = at.folder === 'meta' ? `export type { ${[...fromMeta].sort().join(', ')} } from '@krmkit/meta'\n` : ''
  const head = [header, ...(handles.length > 0 ? handleImports(at, handles) : []), ...typeImports, again, '\n']
  return `${head.join('')}${body.join('\n')}${handles.length > 0 ? `\n${handlesText(at, handles)}` : ''}`
}

function readDocs({ folder, version }) {
  const file = path.join(root, `scripts/types/docs/${folder}-${version}.json`)
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {}
}

/** Versions with handles, and the versions that their types reference. */
function partModules() {
  const wanted = new Map()
  const visit = (at) => {
    const key = `${at.folder}/${at.version}`
    if (wanted.has(key)) return
    wanted.set(key, at)
    for (const [, folder, version] of partsText(at, facts).matchAll(/from '\.\/([a-z]+)-([a-z0-9]+)\.generated\.ts'/g)) {
      visit(facts.modules.find((each) => each.folder === folder && each.version === version) ?? moduleOf(folder, version))
    }
  }
  for (const at of facts.modules) if (handlesOf(at, { ...facts, policies }).length > 0) visit(at)
  return [...wanted.values()]
}

function moduleOf(folder, version) {
  const { group, versions } = facts.groups.get(folder)
  return { folder, version, facts: versions[version], group }
}

function manifestText(modules) {
  const manifest = JSON.parse(fs.readFileSync(path.join(kinds, 'package.json'), 'utf8'))
  const { '.': main, './package.json': own, ...rest } = manifest.exports
  const others = Object.fromEntries(Object.entries(rest).filter(([, target]) => !String(target.source).includes('/types/')))
  const types = modules.map((at) => {
    const name = fileOf(at).replace(/\.ts$/, '')
    const target = { source: `./src/types/${name}.ts`, types: `./dist/types/${name}.d.ts`, default: `./dist/types/${name}.js` }
    return [`./${at.folder}/${at.version}`, target]
  })
  manifest.exports = { '.': main, ...others, ...Object.fromEntries(types), './package.json': own }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

/** Files of earlier runs that are no longer generated. */
function leftovers() {
  return [to, path.join(to, 'parts')]
    .filter((folder) => fs.existsSync(folder))
    .flatMap((folder) => fs.readdirSync(folder).map((name) => path.join(folder, name)))
    .filter((file) => file.endsWith('.generated.ts') && !files.has(file))
}

function write() {
  for (const file of leftovers()) fs.rmSync(file)
  for (const [file, text] of files) {
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, text)
  }
  return 0
}

function check() {
  const stale = [...files].filter(([file, text]) => !fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text)
  const wrong = [...stale.map(([file]) => file), ...leftovers()].map((file) => path.relative(root, file))
  console.log(wrong.length === 0 ? 'types are up to date' : `out of date (node scripts/generate-types.mjs):\n${wrong.join('\n')}`)
  return wrong.length === 0 ? 0 : 1
}
