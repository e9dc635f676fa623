import type { ConvertedObject } from '@krmkit/admission'
import { createTurns } from '@krmkit/base/work'
import { builtInTypes, createCatalog } from '@krmkit/kinds'
import { type ApiObject, createFeatures, fakeClock, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { FieldOwnership } from '../ownership/field-ownership.ts'
import { ServedResources } from './served-resources.ts'
import { createVersionConverter } from './version-converter.ts'

const types = builtInTypes(stockProfile)
const features = createFeatures('1.33')
const { definitions } = createCatalog({ features, types, profile: stockProfile })
const served = new ServedResources(definitions)
const versionConverter = createVersionConverter(
  { types, features, profile: stockProfile, clock: fakeClock(0), turns: createTurns() },
  served,
  (definition) => new FieldOwnership(served, createFeatures()).of(definition).types,
)

const at = (version: string) => ({
  resource: { group: 'autoscaling', version, resource: 'horizontalpodautoscalers' },
  kind: { group: 'autoscaling', version, kind: 'HorizontalPodAutoscaler' },
})
const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }
const first = {
  kind: 'HorizontalPodAutoscaler',
  apiVersion: 'autoscaling/v1',
  metadata: { name: 'h' },
  spec: { maxReplicas: 3, scaleTargetRef },
}

/** Number of turns of the event loop while `work` runs. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let over = false
  const count = (): void => {
    turns++
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  await work()
  over = true
  return turns
}

describe('large objects', () => {
  const data = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, 'v']))
  const form = {
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
  }
  const large = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', creationTimestamp: null }, data }

  it('are read and converted while other requests run', async () => {
    let read: ConvertedObject | undefined
    const reading = await turnsDuring(async () => {
      read = await versionConverter.fromVersion(large, form, form)
    })
    expect(reading).toBeGreaterThan(3)
    expect(read?.versioned).toEqual(large)
    expect(await turnsDuring(async () => versionConverter.toVersion(large, form))).toBeGreaterThan(3)
  })

  it('may be changed after they were read', async () => {
    const { object } = await versionConverter.fromVersion(large, form, form)
    ;(object as unknown as typeof large).data['more'] = 'v'
    expect(object).toMatchObject({ data: { k1: 'v', more: 'v' } })
  })
})

describe('versions of objects', () => {
  it('are all served versions [P73]', () => {
    const versions = versionConverter.equivalents(at('v1').resource, '').map(({ kind }) => kind.version)
    expect(versions.toSorted()).toEqual(['v1', 'v2'])
    expect(versionConverter.equivalents({ group: 'x', version: 'v1', resource: 'y' }, '')).toEqual([])
  })

  it('of a subresource have its kind [P44]', () => {
    const [scale] = versionConverter.equivalents({ group: 'apps', version: 'v1', resource: 'deployments' }, 'scale')
    expect(scale?.kind).toEqual({ group: 'autoscaling', version: 'v1', kind: 'Scale' })
    expect(versionConverter.equivalents({ group: '', version: 'v1', resource: 'configmaps' }, 'scale')).toEqual([])
  })

  it('convert there and back, with defaults [P331]', () => {
    const { object: stored, versioned } = versionConverter.fromVersion(first as never, at('v1'), at('v1')) as ConvertedObject
    expect(versioned).toEqual(versionConverter.toVersion(stored, at('v1')))
    expect(stored['spec']).toMatchObject({ minReplicas: 1, maxReplicas: 3 })
    const second = versionConverter.toVersion(stored, at('v2')) as ApiObject
    expect(second).toMatchObject({ apiVersion: 'autoscaling/v2', spec: { maxReplicas: 3 } })
    const again = versionConverter.fromVersion(structuredClone(second) as never, at('v2'), at('v1')) as ConvertedObject
    expect(versionConverter.toVersion(again.object, at('v1'))).toEqual(versionConverter.toVersion(stored, at('v1')))
  })

  it('report the problem of a malformed value', () => {
    expect(() => versionConverter.fromVersion({ ...first, spec: { maxReplicas: 'three' } } as never, at('v1'), at('v1'))).toThrow(
      'cannot unmarshal string',
    )
  })

  it('are identical until the served resources change', () => {
    const before = versionConverter.served
    expect(versionConverter.served).toBe(before)
    served.replace([...definitions])
    expect(versionConverter.served).not.toBe(before)
  })
})
