import type { AdmissionPlugin } from '@krmkit/admission'
import type { ApiObject } from '@krmkit/meta'
import { decode } from '@krmkit/schema'
import { expect, it } from 'vitest'
import { type SampleRegistry, sampleRegistry } from '../testing/sample-registry.ts'

/** Empty values that the validation of a kind distinguishes from absent ones. */

/** Creates an object as decoded from a body. */
function create({ definition, store, context }: SampleRegistry, resource: string, body: object, dryRun = false) {
  const { kind, strategy } = definition(resource)
  const { object } = decode<ApiObject>(
    kind.type(),
    { apiVersion: kind.version, kind: kind.kind, ...body },
    { keepEmpties: strategy.distinctEmpties },
  )
  return store(resource).create(context({ dryRun }), { namespace: kind.namespaced ? 'ns' : '', object })
}

it('validates distinct empty values, but neither stores, returns nor tracks them', async () => {
  const seen: unknown[] = []
  const plugin: AdmissionPlugin = {
    name: 'Seeing',
    handles: () => true,
    validate: (object, { kind, resource }, { versionConverter }) => {
      if (object === undefined) return
      seen.push(object['binaryData'], versionConverter?.toVersion(object, { kind, resource }))
    },
  }
  const { object } = await create(sampleRegistry({ admission: [plugin] }), 'configmaps', {
    metadata: { name: 'a', labels: { b: 'c' } },
    binaryData: {},
  })
  expect(seen[0]).toEqual({})
  expect(seen[1]).not.toHaveProperty('binaryData')
  expect(object).not.toHaveProperty('binaryData')
  expect(JSON.stringify(object.metadata.managedFields)).not.toContain('f:binaryData')
})

it('refuses an empty map in place of absent immutable data', async () => {
  const sample = sampleRegistry()
  await create(sample, 'configmaps', { metadata: { name: 'a' }, immutable: true })
  const change = (current: object) => ({ ...structuredClone(current), binaryData: {} })
  await expect(sample.update('configmaps', { name: 'a', change: change as never })).rejects.toMatchObject({
    status: { message: expect.stringContaining('binaryData: Forbidden: field is immutable when `immutable` is set') },
  })
})

it('applies defaults to the object that storage returns', async () => {
  const sample = sampleRegistry()
  const node = { metadata: { name: 'n' }, status: { capacity: { cpu: '4' }, allocatable: {} } }
  for (const dryRun of [true, false]) {
    const { object } = await create(sample, 'nodes', node, dryRun)
    expect(object).toMatchObject({ status: { allocatable: { cpu: '4' } } })
  }
})
