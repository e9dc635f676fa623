/**
 * The modules of packages/kinds/src/data: one per group with the compact text of its types, read on first use, one with what discovery needs
 * (kinds, resources), so that the start of a server reads no types, and the lifecycle of each kind.
 */
import { header, quote } from './facts.ts'
import type { GroupFacts, Groups } from './model.ts'
import { packFacts } from './packed-text.ts'

/** @returns text by file name */
export function dataModules(groups: Groups, lifecycle: unknown): Map<string, string> {
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
  const catalog = Object.fromEntries([...groups].map(([name, facts]) => [name, groupCatalog(facts)]))
  modules.set(
    'catalog.generated.ts',
    `${header}
/** Kinds and resources of each group as JSON text, by folder name; the type is \`CatalogFacts\` of catalog/facts.ts. */
export const catalogJson: string = ${quote(JSON.stringify(catalog))}
`,
  )
  modules.set('lifecycle.generated.ts', `${header}export const lifecycleJson: string = ${quote(JSON.stringify(lifecycle))}\n`)
  return modules
}

/** The part of a group's model that discovery needs; absent members are false or empty. */
function groupCatalog({ group, versions }: GroupFacts): object {
  return {
    group,
    versions: mapped(versions, ({ enabledByDefault, kinds, resources = {} }) =>
      lean({
        enabled: enabledByDefault,
        kinds: mapped(
          kinds,
          ({ namespaced, metadata, list, introduced, deprecated, removed, replacement, aliasOf, registeredAs }) =>
            lean({
              ...{ namespaced, object: metadata === 'object', list, introduced, deprecated, removed },
              ...{ replacement, aliasOf, registeredAs },
            }),
        ),
        resources: mapped(resources, ({ kind, namespaced, singular, shortNames, categories, verbs, from }) =>
          lean({ kind, namespaced, singular, shortNames, categories, verbs, gone: from === 'client' }),
        ),
      }),
    ),
  }
}

function mapped<T>(members: Readonly<Record<string, T>>, change: (member: T) => object): Record<string, object> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member)]))
}

function lean(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null && value !== false),
  )
}
