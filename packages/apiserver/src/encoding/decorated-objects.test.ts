import { expect, it } from 'vitest'
import { administrator, requestOf, sampleServer } from '../testing/sample-server.ts'

const services = '/api/v1/namespaces/default/services'
const merge = { 'content-type': 'application/merge-patch+json' }

it('omits internalTrafficPolicy of an ExternalName service from every response, and restores it', async () => {
  const sample = await sampleServer()
  const policy = (json: unknown) => (json as { spec: { internalTrafficPolicy?: string } }).spec.internalTrafficPolicy
  const patch = async (spec: object) => {
    const { json } = await sample.ask(`${services}/a?fieldManager=p`, { method: 'PATCH', headers: merge, body: { spec } })
    return policy(json)
  }
  const spec = { internalTrafficPolicy: 'Local', ports: [{ port: 80 }] }
  const body = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec }
  const created = await sample.ask(services, { method: 'POST', body })
  expect(policy(created.json)).toBe('Local')
  const gone = new AbortController()
  const target = `${services}?watch=1&resourceVersion=${created.json.metadata.resourceVersion}`
  const stream = await sample.server.handle(requestOf(target, { user: administrator, signal: gone.signal }))

  expect(await patch({ type: 'ExternalName', externalName: 'a.b', clusterIP: null, clusterIPs: null })).toBeUndefined()
  const { json } = await sample.ask(`${services}/a`)
  expect([json.spec.type, policy(json)]).toEqual(['ExternalName', undefined])
  const shown = (await sample.ask(services)).json.items[0]
  expect([shown.spec, shown.metadata]).toEqual([json.spec, json.metadata])
  if (stream.body.kind !== 'stream') throw new Error('no stream')
  for await (const piece of stream.body.stream) {
    const { type, object } = JSON.parse(new TextDecoder().decode(piece))
    gone.abort()
    expect([type, object.spec]).toEqual(['MODIFIED', json.spec])
  }
  expect(await patch({ type: 'ClusterIP', externalName: null })).toBe('Local')
  const owners = (await sample.ask(`${services}/a`)).json.metadata.managedFields as { manager: string; fieldsV1: object }[]
  const owning = owners.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('f:internalTrafficPolicy'))
  expect(owning.map(({ manager }) => manager)).toEqual(['unknown'])
})
