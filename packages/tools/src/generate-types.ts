/**
 * Generates, from the facts in packages/tools/facts (`import-model.ts`):
 *
 * - packages/kinds/src/data: the types in compact text, what discovery needs, lifecycles
 * - packages/kinds/src/types: TypeScript types of the built-in kinds, one module per group version, without values
 * - packages/kinds/src/group-versions: one module per group version: a value per kind (KindHandle), with the type of the same name;
 *   group-versions/parts: facts per type
 * - packages/kinds/package.json: the sub-path exports
 *
 * Descriptions that editors show are in packages/tools/docs; packages/kinds/src/strategies/index.ts names the strategies.
 *
 *     node scripts/run.mjs generate-types            # write
 *     node scripts/run.mjs generate-types --check    # exit with 1 if a file is out of date
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { dataModules } from './generate-types/data-text.ts'
import { fileOf, header, model, readGroups, readStrategyNames } from './generate-types/facts.ts'
import { type HandleSources, handlesOf, handlesText } from './generate-types/handle-text.ts'
import type { GroupVersion } from './generate-types/model.ts'
import { partFile, partsText } from './generate-types/part-text.ts'
import { type Docs, fromMeta, typesText } from './generate-types/type-text.ts'
import { isCurrent, writeGenerated } from './lib/generated-file.ts'
import { type Conditions, readJson, root } from './lib/workspace.ts'

const kinds = 'packages/kinds'
const typesFolder = `${kinds}/src/types`
const handlesFolder = `${kinds}/src/group-versions`
const dataFolder = `${kinds}/src/data`
const factsFolder = join(root, 'packages/tools/facts')

export function main(args: readonly string[]): void {
  const files = generated()
  const old = leftovers(files)
  if (!args.includes('--check')) {
    for (const path of old) rmSync(join(root, path))
    for (const [path, text] of files) writeGenerated(path, text)
    return
  }
  const wrong = [...[...files].filter(([path, text]) => !isCurrent(path, text)).map(([path]) => path), ...old]
  console.log(
    wrong.length === 0 ? 'types are up to date' : `out of date (node scripts/run.mjs generate-types):\n${wrong.join('\n')}`,
  )
  process.exitCode = wrong.length === 0 ? 0 : 1
}

/** The text of every generated file, by its path from the root. */
function generated(): Map<string, string> {
  const { groups, locate, modules } = model(readGroups(factsFolder))
  const sources: HandleSources = { groups, strategies: readStrategyNames(join(root, kinds, 'src/strategies/index.ts')) }
  const withHandles = modules.map((at) => ({ at, handles: handlesOf(at, sources) })).filter(({ handles }) => handles.length > 0)
  const files = new Map<string, string>()
  for (const at of modules) files.set(`${typesFolder}/${fileOf(at)}`, typesModule(at, typesText(at, locate, readDocs(at))))
  for (const { at, handles } of withHandles) files.set(`${handlesFolder}/${fileOf(at)}`, handlesText(at, handles))
  const parts = new Map<string, string>()
  const addParts = (at: GroupVersion) => {
    const file = partFile(at)
    if (parts.has(file)) return
    const text = partsText(at, locate)
    parts.set(file, text)
    for (const [, folder, version] of text.matchAll(/from '\.\/([a-z]+)-([a-z0-9]+)\.generated\.ts'/g)) {
      const used = locate(`${folder}/${version}.any`)
      if (used !== undefined) addParts(used)
    }
  }
  for (const { at } of withHandles) addParts(at)
  for (const [file, text] of parts) files.set(`${handlesFolder}/${file}`, text)
  const lifecycle = readJson<unknown>(join(factsFolder, 'lifecycle.json'))
  for (const [file, text] of dataModules(groups, lifecycle)) files.set(`${dataFolder}/${file}`, text)
  files.set(`${kinds}/package.json`, manifestText(modules, new Set(withHandles.map(({ at }) => at))))
  return files
}

function typesModule(at: GroupVersion, { body, imports }: ReturnType<typeof typesText>): string {
  const typeImports = [...imports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([module, names]) => {
      const listed = [...names].sort().map(([type, as]) => (type === as ? type : `${type} as ${as}`))
      return `import type { ${listed.join(', ')} } from '${module}'\n`
    })
  const again = at.folder === 'meta' ? `export type { ${[...fromMeta].sort().join(', ')} } from '@krmkit/meta'\n` : ''
  return `${[header, ...typeImports, again, '\n'].join('')}${body.join('\n')}`
}

function readDocs({ folder, version }: GroupVersion): Docs {
  const file = join(root, `packages/tools/docs/${folder}-${version}.json`)
  return existsSync(file) ? readJson<Docs>(file) : {}
}

/** The manifest of the package `kinds`, with an entry point for each module. */
function manifestText(modules: readonly GroupVersion[], withHandles: ReadonlySet<GroupVersion>): string {
  const manifest = readJson<{ readonly exports: Readonly<Record<string, string | Conditions>> }>(
    join(root, kinds, 'package.json'),
  )
  const { '.': main, './package.json': own, ...rest } = manifest.exports
  const isGenerated = (target: string | Conditions) =>
    typeof target === 'object' && String(target.source).endsWith('.generated.ts')
  const others = Object.fromEntries(Object.entries(rest).filter(([, target]) => !isGenerated(target)))
  const entries = modules.map((at) => {
    const name = fileOf(at).replace(/\.ts$/, '')
    const folder = withHandles.has(at) ? 'group-versions' : 'types'
    const target = {
      source: `./src/${folder}/${name}.ts`,
      types: `./dist/${folder}/${name}.d.ts`,
      default: `./dist/${folder}/${name}.js`,
    }
    return [`./${at.folder}/${at.version}`, target] as const
  })
  const exports = { '.': main, ...others, ...Object.fromEntries(entries), './package.json': own }
  return `${JSON.stringify({ ...manifest, exports }, null, 2)}\n`
}

/** Generated files of earlier runs that this run does not write. */
function leftovers(files: ReadonlyMap<string, string>): string[] {
  return [dataFolder, typesFolder, `${typesFolder}/parts`, handlesFolder, `${handlesFolder}/parts`]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))
    .filter((path) => path.endsWith('.generated.ts') && !files.has(path))
}
