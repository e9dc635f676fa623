import type { AdmissionPlugin } from '@krmkit/admission'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { AppliedConfiguration, ApplyRequest, FrozenObject } from '../interfaces.ts'
import { type SampleRegistry, sampleRegistry } from '../testing/sample-registry.ts'

function configured(data: Record<string, string>, metadata: object = {}): AppliedConfiguration {
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', ...metadata }, data }
  return { sent: structuredClone(object) as unknown as FrozenObject, object: object as ApiObject }
}

function apply(
  { store, context }: SampleRegistry,
  manager: string,
  configuration: ApplyRequest['configuration'],
  rest: Partial<ApplyRequest> = {},
) {
  const request = { namespace: 'ns', name: 'a', subresource: '', createMissing: true, force: false, ...rest }
  return store('configmaps').apply(context({ fieldManager: manager }), { ...request, configuration })
}

describe('apply', () => {
  it('creates a missing object, owned by the applier', async () => {
    const sample = sampleRegistry()
    const { created, object } = await apply(sample, 'ci', () => configured({ k: '1' }))
    expect(created).toBe(true)
    expect(object.metadata.managedFields).toMatchObject([
      { manager: 'ci', operation: 'Apply', fieldsV1: { 'f:data': { 'f:k': {} } } },
    ])
  })

  it('conflicts with another applier, unless it forces', async () => {
    const sample = sampleRegistry()
    await apply(sample, 'ci', () => configured({ k: '1' }))
    await expect(apply(sample, 'ops', () => configured({ k: '2' }))).rejects.toMatchObject({ code: 409 })
    const { object } = await apply(sample, 'ops', () => configured({ k: '2' }), { force: true })
    expect(object['data']).toEqual({ k: '2' })
  })

  it('removes fields that its configuration no longer has', async () => {
    const sample = sampleRegistry()
    await apply(sample, 'ci', () => configured({ k: '1', gone: 'x' }))
    const { object } = await apply(sample, 'ci', () => configured({ k: '1' }))
    expect(object['data']).toEqual({ k: '1' })
  })

  it('keeps version and bytes when nothing changes', async () => {
    const sample = sampleRegistry()
    const first = await apply(sample, 'ci', () => configured({ k: '1' }))
    const second = await apply(sample, 'ci', () => configured({ k: '1' }))
    expect(second.entry).toBe(first.entry)
  })

  it('creates an object with a deletionTimestamp, which the next apply removes', async () => {
    const sample = sampleRegistry()
    const marked = {
      deletionTimestamp: '2024-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
      creationTimestamp: '2001-01-01T00:00:00Z',
    }
    const { object } = await apply(sample, 'ci', () => configured({}, { ...marked, selfLink: '/a' }))
    expect(object.metadata).not.toHaveProperty('selfLink')
    expect(object.metadata).toMatchObject({ ...marked, creationTimestamp: '2024-01-01T00:00:00Z' })
    expect(object.metadata.managedFields).toMatchObject([
      { fieldsV1: { 'f:metadata': { 'f:deletionGracePeriodSeconds': {}, 'f:deletionTimestamp': {} } } },
    ])
    await apply(sample, 'ci', () => configured({}, marked))
    expect(sample.stored('configmaps', 'a')).toBeUndefined()
  })

  it('does not create an object from a configuration with a uid', async () => {
    const sample = sampleRegistry()
    await expect(apply(sample, 'ci', () => configured({}, { uid: 'u' }))).rejects.toMatchObject({
      code: 409,
      message: expect.stringContaining('uid mismatch'),
    })
    expect(sample.stored('configmaps', 'a')).toBeUndefined()
  })

  it('does not create an object that admission has renamed', async () => {
    const rename: AdmissionPlugin = {
      name: 'rename',
      handles: () => true,
      admit: (draft) => {
        draft.metadata.name = 'other'
      },
    }
    const sample = sampleRegistry({ admission: [rename] })
    await expect(apply(sample, 'ci', () => configured({}))).rejects.toMatchObject({
      code: 400,
      message: 'the name of the object (other) does not match the name on the URL (a)',
    })
    expect(sample.stored('configmaps', 'other')).toBeUndefined()
  })

  it('passes whether an object exists to the configuration', async () => {
    const sample = sampleRegistry()
    const seen: boolean[] = []
    for (let i = 0; i < 2; i++) {
      await apply(sample, 'ci', (exists) => {
        seen.push(exists)
        return configured({ k: '1' })
      })
    }
    expect(seen).toEqual([false, true])
  })
})
