import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ResourceInfo } from '../interfaces.ts'
import { createCatalog } from './catalog.ts'
import { deprecationWarning } from './deprecation.ts'

/** Compares discovery and deprecation warnings recorded from kube-apiserver with the catalog. */

const scenarios = new URL('../../../../../shared/wire/scenarios/', import.meta.url)
const present = existsSync(scenarios)
const catalog = createCatalog()

interface Scenario {
  readonly steps: readonly { readonly id: string; readonly path: string }[]
  readonly expected: Readonly<Record<string, { readonly body?: unknown; readonly warning?: readonly string[] }>>
}

function read(name: string): Scenario {
  return JSON.parse(readFileSync(new URL(name, scenarios), 'utf8')) as Scenario
}

describe.skipIf(!present)('recorded discovery (skipped when ../shared is absent)', () => {
  it('lists the resources of the core group [P329]', () => {
    const { resources } = read('protocol/discovery-core.json').expected.core!.body as { resources: object[] }
    const ours = catalog.definitions
      .filter(({ group, version }) => group === '' && version === 'v1')
      .flatMap(({ resource, subresources }) => [resource, ...subresources])
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    expect(ours.map((info) => asDiscovered(info, ''))).toEqual(resources.map((each) => unmasked(each)))
  })

  it('lists the versions of groups [P329]', () => {
    const { steps, expected } = read('protocol/discovery-groups.json')
    let compared = 0
    for (const { id } of steps) {
      const body = expected[id]!.body as { kind?: string; name: string; versions: { version: string }[] } | undefined
      if (body?.kind !== 'APIGroup') continue
      const ours = catalog.groups.find(({ group }) => group === body.name)
      expect(ours?.versions).toEqual(body.versions.map(({ version }) => version))
      compared++
    }
    expect(compared).toBeGreaterThan(4)
  })

  it('warns of deprecated kinds [P303 P333]', () => {
    let compared = 0
    for (const name of readdirSync(new URL('storage/', scenarios))
      .map((file) => `storage/${file}`)
      .concat('protocol/warnings.json')) {
      const { steps, expected } = read(name)
      for (const { id, path } of steps) {
        for (const warning of expected[id]?.warning ?? []) {
          const resource = /^\/api\/v1\/(?:namespaces\/[^/]+\/)?(componentstatuses|endpoints)/.exec(path)?.[1]
          if (resource === undefined) continue
          const definition = catalog.resource({ group: '', version: 'v1', resource })
          expect(`299 - "${deprecationWarning(definition!.kind)}"`).toBe(warning)
          compared++
        }
      }
    }
    expect(compared).toBeGreaterThan(5)
  })
})

function asDiscovered({ name, namespaced, kind, verbs, shortNames, categories }: ResourceInfo, group: string): object {
  return {
    name,
    namespaced,
    kind: kind.kind,
    verbs,
    ...(kind.group === group ? {} : { group: kind.group, version: kind.version }),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  }
}

function unmasked(resource: object): object {
  return Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== '<masked>'))
}
