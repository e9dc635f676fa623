/**
 * `npm run model` generates, from the facts of releases (packages/tools/release-facts/model):
 *
 *     packages/kinds/src/data/             the types in compact text, what discovery needs, lifecycles
 *     packages/kinds/src/types/            TypeScript types of the built-in kinds, one module per group version, without values
 *     packages/kinds/src/group-versions/   one module per group version: a value per kind (KindHandle), with the type of the same name;
 *                                          group-versions/parts: facts per type
 *     packages/kinds/src/releases/         what other releases have: their types, and since when fields exist
 *     packages/kinds/src/marker-rules/texts/ the rules of validation markers, by group and release
 *     packages/meta/src/feature-gates/     the feature gates
 *     packages/kinds/package.json          the sub-path exports
 *
 * Descriptions that editors show are in packages/tools/release-facts/docs; packages/kinds/src/strategies/index.ts names the strategies.
 * `--check` reports whether the files are up to date. Needs a build of `@krmkit/schema`.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { catalogHistoryModule } from './generate-types/catalog-history.ts'
import { dataModules } from './generate-types/data-text.ts'
import { type Facts, factsOf, fileOf, type GroupAt, header, readStrategyNames } from './generate-types/facts.ts'
import { featureGatesModule } from './generate-types/feature-gates.ts'
import { fieldRowsModule } from './generate-types/field-rows.ts'
import { handlesOf, handlesText } from './generate-types/handle-text.ts'
import { typeHistoryModule } from './generate-types/history-text.ts'
import { ruleModules } from './generate-types/marker-rules/module.ts'
import { partFile, partsText } from './generate-types/part-text.ts'
import { groupsAt, groupsOfBoth, newestLifecycles, servedMinor } from './generate-types/served-release.ts'
import { type Docs, fromMeta, typesText } from './generate-types/type-text.ts'
import { isCurrent, writeGenerated } from './lib/generated-file.ts'
import { readJson, root } from './lib/workspace.ts'
import { readModel } from './release-facts/model.ts'

const home = join(root, 'packages/tools/release-facts')
const kinds = 'packages/kinds'
const folders = ['data', 'releases', 'types', 'group-versions', 'group-versions/parts', 'marker-rules/texts'].map(
  (name) => `${kinds}/src/${name}`,
)

export function main(args: readonly string[]): void {
  const files = generate()
  if (!args.includes('--check')) {
    for (const file of leftovers(files)) rmSync(join(root, file))
    for (const [file, text] of files) writeGenerated(file, text)
    return
  }
  const wrong = staleFiles(files)
  console.log(wrong.length === 0 ? 'types are up to date' : `out of date (npm run model):\n${wrong.join('\n')}`)
  process.exitCode = wrong.length === 0 ? 0 : 1
}

/** Generated files that are out of date, or that earlier runs left. */
export function staleFiles(files: ReadonlyMap<string, string> = generate()): string[] {
  return [...[...files].filter(([file, text]) => !isCurrent(file, text)).map(([file]) => file), ...leftovers(files)]
}

/** Texts by path from the root. */
function generate(): Map<string, string> {
  const model = readModel(join(home, 'model'))
  const facts = factsOf(groupsAt(model, servedMinor))
  const strategies = readStrategyNames(join(root, kinds, 'src/strategies/index.ts'))
  const handles = (at: GroupAt) => handlesOf(at, { groups: facts.groups, strategies })
  const hasHandles = (at: GroupAt) => handles(at).length > 0
  const files = new Map<string, string>()
  const described = factsOf(groupsOfBoth(model))
  for (const at of described.modules) files.set(`${kinds}/src/types/${fileOf(at)}`, typesModule(at, described))
  for (const at of facts.modules) {
    if (hasHandles(at)) files.set(`${kinds}/src/group-versions/${fileOf(at)}`, handlesText(at, handles(at)))
  }
  for (const at of partModules(facts, hasHandles)) files.set(`${kinds}/src/group-versions/${partFile(at)}`, partsText(at, facts))
  for (const [file, text] of dataModules(facts.groups, newestLifecycles(model, home)))
    files.set(`${kinds}/src/data/${file}`, text)
  files.set(`${kinds}/src/releases/type-history.generated.ts`, typeHistoryModule(model, facts.groups))
  files.set(`${kinds}/src/releases/catalog-history.generated.ts`, catalogHistoryModule(model))
  files.set(`${kinds}/src/releases/field-rows.generated.ts`, fieldRowsModule(model))
  files.set('packages/meta/src/feature-gates/facts.generated.ts', featureGatesModule(model))
  for (const [file, text] of ruleModules(model)) files.set(`${kinds}/src/marker-rules/texts/${file}`, text)
  files.set(`${kinds}/package.json`, manifestText(described.modules, new Set(files.keys())))
  return files
}

function typesModule(at: GroupAt, facts: Facts): string {
  const { body, imports } = typesText(at, facts, readDocs(at))
  const typeImports = [...imports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([module, names]) => {
      const listed = [...names].sort().map(([type, as]) => (type === as ? type : `${type} as ${as}`))
      return `import type { ${listed.join(', ')} } from '${module}'\n`
    })
  const again = at.folder === 'meta' ? `export type { ${[...fromMeta].sort().join(', ')} } from '@krmkit/meta'\n` : ''
  return `${[header, ...typeImports, again, '\n'].join('')}${body.join('\n')}`
}

function readDocs({ folder, version }: GroupAt): Docs {
  const file = join(home, `docs/${folder}-${version}.json`)
  return existsSync(file) ? readJson<Docs>(file) : {}
}

/** Group versions with handles, and those whose types they use. */
function partModules(facts: Facts, hasHandles: (at: GroupAt) => boolean): GroupAt[] {
  const wanted = new Map<string, GroupAt>()
  const visit = (at: GroupAt) => {
    const key = `${at.folder}/${at.version}`
    if (wanted.has(key)) return
    wanted.set(key, at)
    for (const [, folder = '', version = ''] of partsText(at, facts).matchAll(
      /from '\.\/([a-z]+)-([a-z0-9]+)\.generated\.ts'/g,
    )) {
      visit(facts.modules.find((each) => each.folder === folder && each.version === version) ?? moduleOf(facts, folder, version))
    }
  }
  for (const at of facts.modules) if (hasHandles(at)) visit(at)
  return [...wanted.values()]
}

function moduleOf({ groups }: Facts, folder: string, version: string): GroupAt {
  const { group, versions } = groups.get(folder)!
  return { folder, version, facts: versions[version]!, group }
}

interface ExportsOf {
  readonly exports: Readonly<Record<string, string | { readonly source?: string }>>
}

/** A sub-path for each group version that types describe: with the handles, where the served release has them. */
function manifestText(modules: readonly GroupAt[], files: ReadonlySet<string>): string {
  const manifest = readJson<ExportsOf>(join(root, kinds, 'package.json'))
  const { '.': main, './package.json': own, ...rest } = manifest.exports
  const others = Object.entries(rest).filter(
    ([, target]) => typeof target === 'string' || !String(target.source).endsWith('.generated.ts'),
  )
  const generated = modules.map((at) => {
    const name = fileOf(at).replace(/\.ts$/, '')
    const folder = files.has(`${kinds}/src/group-versions/${fileOf(at)}`) ? 'group-versions' : 'types'
    const target = {
      source: `./src/${folder}/${name}.ts`,
      types: `./dist/${folder}/${name}.d.ts`,
      default: `./dist/${folder}/${name}.js`,
    }
    return [`./${at.folder}/${at.version}`, target] as const
  })
  const exports = { '.': main, ...Object.fromEntries(others), ...Object.fromEntries(generated), './package.json': own }
  return `${JSON.stringify({ ...manifest, exports }, null, 2)}\n`
}

/** Generated files that this run does not write. */
function leftovers(files: ReadonlyMap<string, string>): string[] {
  return folders
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))
    .filter((file) => file.endsWith('.generated.ts') && !files.has(file))
}
