import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { AdmissionAttributes, VersionConverter } from '../interfaces.ts'
import { versionedObjects } from './versioned-objects.ts'

/** Completes objects like stored ones, as the version converter of the registry does for custom resources. */
const completing = (isCustom: boolean): VersionConverter => ({
  served: undefined,
  equivalents: () => [],
  isCustom: () => isCustom,
  toVersion({ metadata: { creationTimestamp, ...metadata }, ...object }) {
    const kept = creationTimestamp ? { creationTimestamp } : {}
    return { ...object, metadata: { ...kept, generation: 1, ...metadata } }
  },
  fromVersion: () => {
    throw new Error('not used')
  },
})

const version = {
  resource: { group: 'g.example.com', version: 'v1', resource: 'widgets' },
  kind: { group: 'g.example.com', version: 'v1', kind: 'Widget' },
}

async function shown(metadata: object, operation: AdmissionAttributes['operation'], isCustom = true) {
  const object = {
    apiVersion: 'g.example.com/v1',
    kind: 'Widget',
    metadata: { name: 'a', ...metadata },
  } as DeepReadonly<ApiObject>
  const attributes = { operation, ...(operation === 'UPDATE' ? { oldObject: object } : {}) }
  const versioned = await versionedObjects(object, version, attributes, { versionConverter: completing(isCustom) })
  return [JSON.stringify(versioned.object?.metadata), JSON.stringify(versioned.oldObject?.metadata)]
}

describe('versionedObjects', () => {
  it('shows a custom resource without the metadata that the server has not set yet', async () => {
    expect(await shown({}, 'CREATE')).toEqual(['{"name":"a"}', undefined])
    expect(await shown({ generation: 9 }, 'CREATE')).toEqual(['{"generation":9,"name":"a"}', undefined])
  })

  it('shows an update of a custom resource with a null creationTimestamp, and completes the old object', async () => {
    expect(await shown({}, 'UPDATE')).toEqual(['{"creationTimestamp":null,"name":"a"}', '{"generation":1,"name":"a"}'])
    const creationTimestamp = '2024-01-01T00:00:00Z'
    const set = JSON.stringify({ creationTimestamp, generation: 2, name: 'a' })
    expect(await shown({ creationTimestamp, generation: 2 }, 'UPDATE')).toEqual([set, set])
  })

  it('shows built-in kinds as converted', async () => {
    expect(await shown({}, 'CREATE', false)).toEqual(['{"generation":1,"name":"a"}', undefined])
  })
})
