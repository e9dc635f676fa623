#!/usr/bin/env node
// Generates, from the facts in scripts/types/facts (scripts/import-model.mjs):
//   packages/kinds/src/data/      the types in compact text, what discovery needs, lifecycles
//   packages/kinds/src/types/     TypeScript types of the built-in kinds, one module per group version, without values
//   packages/kinds/src/group-versions/   one module per group version: a value per kind (KindHandle), with the type of the same name;
//                                 group-versions/parts: facts per type
//   packages/kinds/package.json   the sub-path exports
// Descriptions that editors show are in scripts/types/docs; packages/kinds/src/strategies/index.ts names the strategies.
//   node scripts/generate-types.mjs            # write
//   node scripts/generate-types.mjs --check    # exit with 1 if a file is out of date
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { dataModules } from './types/data-text.mjs'
import { fileOf, header, model, readFacts, readJson, readStrategyNames } from './types/facts.mjs'
import { handlesOf, handlesText } from './types/handle-text.mjs'
import { partFile, partsText } from './types/part-text.mjs'
import { fromMeta, typesText } from './types/type-text.mjs'

const root = fileURLToPath(new URL('../', import.meta.url))
const kinds = path.join(root, 'packages/kinds')
const typesFolder = path.join(kinds, 'src/types')
const handlesFolder = path.join(kinds, 'src/group-versions')

const dataFolder = path.join(kinds, 'src/data')
const factsFolder = path.join(root, 'scripts/types/facts')

const facts = model(readFacts(factsFolder))
const strategies = readStrategyNames(path.join(kinds, 'src/strategies/index.ts'))
const hasHandles = (at) => handlesOf(at, { ...facts, strategies }).length > 0
const files = new Map()
for (const at of facts.modules) {
  files.set(path.join(typesFolder, fileOf(at)), typesModule(at))
  if (hasHandles(at)) files.set(path.join(handlesFolder, fileOf(at)), handlesText(at, handlesOf(at, { ...facts, strategies })))
}
for (const at of partModules()) files.set(path.join(handlesFolder, partFile(at)), partsText(at, facts))
const lifecycle = readJson(path.join(factsFolder, 'lifecycle.json'))
for (const [file, text] of dataModules(facts.groups, { lifecycle, header })) files.set(path.join(dataFolder, file), text)
files.set(path.join(kinds, 'package.json'), manifestText(facts.modules))
process.exitCode = process.argv.includes('--check') ? check() : write()

function typesModule(at) {
  const { body, imports } = typesText(at, { ...facts, docs: readDocs(at) })
  const typeImports = [...imports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([module, names]) => {
      const listed = [...names].sort().map(([type, as]) => (type === as ? type : `${type} as ${as}`))
      return `import type { ${listed.join(', ')} } from '${module}'\n`
    })
  const again = at.folder === 'meta' ? `export type { ${[...fromMeta].sort().join(', ')} } from '@krmkit/meta'\n` : ''
  return `${[header, ...typeImports, again, '\n'].join('')}${body.join('\n')}`
}

function readDocs({ folder, version }) {
  const file = path.join(root, `scripts/types/docs/${folder}-${version}.json`)
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {}
}

/** Group versions with handles, and those whose types they use. */
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
  for (const at of facts.modules) if (hasHandles(at)) visit(at)
  return [...wanted.values()]
}

function moduleOf(folder, version) {
  const { group, versions } = facts.groups.get(folder)
  return { folder, version, facts: versions[version], group }
}

function manifestText(modules) {
  const manifest = JSON.parse(fs.readFileSync(path.join(kinds, 'package.json'), 'utf8'))
  const { '.': main, './package.json': own, ...rest } = manifest.exports
  const others = Object.fromEntries(Object.entries(rest).filter(([, target]) => !String(target.source).endsWith('.generated.ts')))
  const generated = modules.map((at) => {
    const name = fileOf(at).replace(/\.ts$/, '')
    const folder = hasHandles(at) ? 'group-versions' : 'types'
    const target = {
      source: `./src/${folder}/${name}.ts`,
      types: `./dist/${folder}/${name}.d.ts`,
      default: `./dist/${folder}/${name}.js`,
    }
    return [`./${at.folder}/${at.version}`, target]
  })
  manifest.exports = { '.': main, ...others, ...Object.fromEntries(generated), './package.json': own }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

/** Generated files of earlier runs that this run does not write. */
function leftovers() {
  return [dataFolder, typesFolder, path.join(typesFolder, 'parts'), handlesFolder, path.join(handlesFolder, 'parts')]
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
