import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

const pods = '/api/v1/namespaces/default/pods'

/** A server with a pod that has a finalizer, so that it can be read after its eviction. */
async function withPod() {
  const sample = await sampleServer()
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  await sample.ask(pods, { method: 'POST', body: { metadata: { name: 'p', finalizers: ['example.com/hold'] }, spec } })
  const evict = (body: object) => sample.ask(`${pods}/p/eviction`, { method: 'POST', body: { metadata: { name: 'p' }, ...body } })
  const pod = async () => (await sample.ask(`${pods}/p`)).json
  return { ...sample, evict, pod }
}

describe('eviction', () => {
  it('sets the DisruptionTarget condition', async () => {
    const { evict, pod } = await withPod()
    const { resourceVersion } = (await pod()).metadata
    expect((await evict({ deleteOptions: { preconditions: { resourceVersion } } })).status).toBe(201)
    const { metadata, status } = await pod()
    expect(metadata).toHaveProperty('deletionTimestamp')
    expect(status.conditions).toEqual([
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }),
    ])
  })

  it('changes nothing in a dry run and for another uid', async () => {
    const { evict, pod } = await withPod()
    const before = await pod()
    expect((await evict({ deleteOptions: { dryRun: ['All'] } })).status).toBe(201)
    expect((await evict({ deleteOptions: { preconditions: { resourceVersion: '1' } } })).status).toBe(409)
    expect((await evict({ deleteOptions: { preconditions: { uid: 'other' } } })).status).toBe(409)
    expect(await pod()).toEqual(before)
  })

  it.each([
    [{}, 201],
    [{ apiVersion: 'policy/v1', kind: 'Eviction' }, 201],
    [{ apiVersion: 'policy/v1beta1', kind: 'Eviction' }, 201],
    [{ apiVersion: 'policy/v2', kind: 'Eviction' }, 400],
    [{ apiVersion: 'policy/v1beta1', kind: 'Binding' }, 400],
  ])('of %o returns %d', async (type, status) => {
    const { evict } = await withPod()
    expect((await evict({ ...type, deleteOptions: { dryRun: ['All'] } })).status).toBe(status)
  })
})
