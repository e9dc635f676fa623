import { builtInKinds } from '@krmkit/kinds'
import { describe, expect, it } from 'vitest'
import { ServedResources } from './served-resources.ts'

describe('ServedResources', () => {
  const definitions = builtInKinds()

  it('finds resources by name, storage, kind and list kind', () => {
    const served = new ServedResources(definitions)
    const deployments = served.find({ group: 'apps', version: 'v1', resource: 'deployments' })
    expect(deployments?.kind.kind).toBe('Deployment')
    expect(served.stored('apps', 'deployments')).toBe(deployments)
    expect(
      served
        .versionsOf({ group: 'autoscaling', resource: 'horizontalpodautoscalers' })
        .map(({ version }) => version)
        .sort(),
    ).toEqual(['v1', 'v2'])
    expect(served.hasGroup('apps')).toBe(true)
    expect(served.hasVersion('apps', 'v9')).toBe(false)
    expect(served.kind({ group: '', version: 'v1', kind: 'Pod' })?.namespaced).toBe(true)
    expect(served.hasListKind({ group: '', version: 'v1', kind: 'PodList' })).toBe(true)
  })

  it('replaces all definitions and never modifies an array', () => {
    const served = new ServedResources(definitions)
    const less = definitions.filter(({ group }) => group !== 'apps')
    served.replace(less)
    expect(served.definitions).toBe(less)
    expect(served.hasGroup('apps')).toBe(false)
    expect(served.stored('apps', 'deployments')).toBeUndefined()
  })
})
