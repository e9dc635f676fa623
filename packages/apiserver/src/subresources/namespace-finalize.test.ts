import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

const namespaces = '/api/v1/namespaces'

async function withNamespace() {
  const sample = await sampleServer()
  await sample.ask(namespaces, { method: 'POST', body: { metadata: { name: 'n', labels: { a: 'b' } } } })
  const finalize = (body: object, headers: Record<string, string> = {}) =>
    sample.ask(`${namespaces}/n/finalize`, { method: 'PUT', body: { metadata: { name: 'n' }, ...body }, headers })
  return { ...sample, finalize }
}

describe('namespaces/finalize', () => {
  it('is an update that keeps the status', async () => {
    const { finalize } = await withNamespace()
    const metadata = { name: 'n', labels: { x: 'y' } }
    const { status, json } = await finalize({ metadata, spec: { finalizers: ['a/b'] }, status: { phase: 'Terminating' } })
    expect(status).toBe(200)
    expect(json).toMatchObject({ spec: { finalizers: ['a/b'] }, status: { phase: 'Active' } })
    expect(json.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': 'n', x: 'y' })
    expect(json.metadata.managedFields).toContainEqual(
      expect.objectContaining({
        subresource: 'finalize',
        fieldsV1: { 'f:metadata': { 'f:labels': { 'f:x': {} } }, 'f:spec': { 'f:finalizers': {} } },
      }),
    )
  })

  it('removes a terminating namespace with its last finalizer', async () => {
    const { ask, finalize } = await withNamespace()
    await ask(`${namespaces}/n`, { method: 'DELETE' })
    expect((await ask(`${namespaces}/n`)).json.status.phase).toBe('Terminating')
    expect((await finalize({ spec: {} })).status).toBe(200)
    expect((await ask(`${namespaces}/n`)).status).toBe(404)
  })

  it('refuses another name, another uid and unqualified finalizers', async () => {
    const { finalize } = await withNamespace()
    expect((await finalize({ metadata: { name: 'other' } })).status).toBe(400)
    expect((await finalize({ metadata: { name: 'n', uid: 'other' } })).status).toBe(409)
    expect((await finalize({ spec: { finalizers: ['bare'] } })).json.details.causes).toMatchObject([
      { field: 'spec.finalizers[0]', message: expect.stringContaining('neither a standard finalizer name') },
    ])
  })
})
