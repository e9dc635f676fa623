import { existsSync, readFileSync } from 'node:fs'
import { createCatalog } from '@krmkit/kinds'
import { describe, expect, it } from 'vitest'
import { createDiscovery } from './discovery.ts'

/** Recorded responses of kube-apiserver. */

const scenarios = new URL('../../../../../shared/wire/scenarios/', import.meta.url)

interface Scenario {
  readonly steps: readonly {
    readonly id: string
    readonly path: string
    readonly as?: string
    readonly headers?: Record<string, string>
  }[]
  readonly expected: Readonly<
    Record<string, { readonly status: number; readonly body?: Record<string, unknown>; readonly text?: string }>
  >
}

const { definitions } = createCatalog()
const discovery = createDiscovery({ resources: () => definitions, serverAddress: () => '127.0.0.1:6443' })

/** Masks variable members of recordings. */
function fits(ours: unknown, recorded: unknown): unknown {
  if (recorded === '<masked>') return recorded
  if (Array.isArray(ours) && Array.isArray(recorded)) return ours.map((each, index) => fits(each, recorded[index]))
  if (typeof ours !== 'object' || ours === null || typeof recorded !== 'object' || recorded === null) return ours
  return Object.fromEntries(
    Object.entries(ours).map(([name, value]) => [name, fits(value, (recorded as Record<string, unknown>)[name])]),
  )
}

describe.skipIf(!existsSync(scenarios))('discovery of the recorded server (skipped when ../shared is absent)', () => {
  it.each(['protocol/discovery-core', 'protocol/discovery-groups', 'crd/paths-and-rights', 'auth/rbac-non-resource-urls'])(
    '%s [P137]',
    (name) => {
      const { steps, expected } = JSON.parse(readFileSync(new URL(`${name}.json`, scenarios), 'utf8')) as Scenario
      let compared = 0
      for (const { id, path, headers } of steps) {
        const recorded = expected[id]
        if (recorded === undefined || headers?.accept !== undefined || path === undefined || path.includes('{')) continue
        const found = discovery.resolve({ path, headers: {} })
        if (found === undefined || recorded.status === 403) continue
        compared++
        if (recorded.status === 404)
          expect(found).toEqual({ outcome: 'notServed', form: recorded.text === undefined ? 'status' : 'text' })
        else expect(fits('object' in found ? found.object : undefined, recorded.body)).toEqual(recorded.body)
      }
      expect(compared).toBeGreaterThan(0)
    },
  )
})
