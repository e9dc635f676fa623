/**
 * The modules of packages/kinds/src/data: one per group with the compact text of its types, read on first use, one with what discovery needs
 * (kinds, resources), so that the start of a server reads no types, and the lifecycle of each kind.
 */
import type { GroupFile } from '../release-facts/facts.ts'
import { header, quote } from './facts.ts'
import { packFacts } from './packed-text.ts'

/** @returns text by file name */
export function dataModules(groups: ReadonlyMap<string, GroupFile>, lifecycles: readonly object[]): Map<string, string> {
  const names = [...groups.keys()]
  const modules = new Map<string, string>()
  for (const [name, facts] of groups) {
    modules.set(`${name}.generated.ts`, `${header}export const ${name}Types: string = \`${packFacts(name, facts)}\`\n`)
  }
  modules.set(
    'index.generated.ts',
    `${header}${names.map((g) => `import { ${g}Types } from './${g}.generated.ts'\n`).join('')}
/** The types of each group as compact text, by folder name. */
export const modelFiles: Readonly<Record<string, string>> = {
${names.map((g) => `  ${g}: ${g}Types,\n`).join('')}}
`,
  )
  modules.set(
    'catalog.generated.ts',
    `${header}
/** Kinds and resources of each group as JSON text, by folder name; the type is \`CatalogFacts\` of catalog/facts.ts. */
export const catalogJson: string = ${quote(JSON.stringify(catalogOf(groups)))}
`,
  )
  modules.set('lifecycles.generated.ts', `${header}export const lifecycleJson: string = ${quote(JSON.stringify(lifecycles))}\n`)
  return modules
}

/** A group as the catalog has it. */
export interface GroupCatalog {
  readonly group: string
  readonly versions: Readonly<Record<string, VersionCatalog>>
}

interface VersionCatalog {
  readonly enabled?: boolean
  readonly kinds: Readonly<Record<string, object>>
  readonly resources: Readonly<Record<string, object>>
}

/** The part of the model that discovery needs, by folder; absent members are false or empty. */
export function catalogOf(groups: ReadonlyMap<string, GroupFile>): Record<string, GroupCatalog> {
  return Object.fromEntries([...groups].map(([name, facts]) => [name, groupCatalog(facts)]))
}

function groupCatalog({ group, versions }: GroupFile): GroupCatalog {
  const shown = Object.entries(versions).map(([version, facts]) => {
    const kinds = Object.entries(facts.kinds).map(([kind, own]) => {
      const { namespaced, metadata, list, introduced, deprecated, removed, replacement, aliasOf, registeredAs } = own
      const object = metadata === 'object'
      return [
        kind,
        lean({ namespaced, object, list, introduced, deprecated, removed, replacement, aliasOf, registeredAs }),
      ] as const
    })
    const resources = Object.entries(facts.resources).map(([name, own]) => {
      const { kind, namespaced, singular, shortNames, categories, verbs, from: origin } = own
      return [name, lean({ kind, namespaced, singular, shortNames, categories, verbs, gone: origin === 'client' })] as const
    })
    const tables = { kinds: Object.fromEntries(kinds), resources: Object.fromEntries(resources) }
    return [version, { ...lean({ enabled: facts.enabledByDefault }), ...tables }] as const
  })
  return { group, versions: Object.fromEntries(shown) }
}

function lean(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null && value !== false),
  )
}
