import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

const partial = (version: string) => `application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=${version}`
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1'
const reviews: readonly (readonly [string, object])[] = [
  ['/apis/authentication.k8s.io/v1/selfsubjectreviews', {}],
  ['/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'x' } }],
  ['/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { nonResourceAttributes: { path: '/x', verb: 'get' } } }],
  ['/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'default' } }],
]

describe('reviews', () => {
  it.each(reviews)('%s return only their metadata on request, in JSON and protobuf [P190]', async (path, body) => {
    const { ask } = await sampleServer()
    for (const version of ['v1', 'v1beta1']) {
      const { status, json } = await ask(path, { method: 'POST', body, headers: { accept: partial(version) } })
      expect([status, Object.keys(json)]).toEqual([201, ['kind', 'apiVersion', 'metadata']])
      expect(json).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}` })
      expect(json.metadata).toHaveProperty('creationTimestamp')
    }
    const accept = 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
    const { status, headers, text } = await ask(path, { method: 'POST', body, headers: { accept } })
    expect([status, headers['content-type']]).toEqual([201, 'application/vnd.kubernetes.protobuf'])
    expect(text).toMatch(/^k8s\0.*meta\.k8s\.io\/v1.*PartialObjectMetadata/s)
  })

  it.each(reviews)('%s have no Table [P194]', async (path, body) => {
    const { ask } = await sampleServer()
    expect((await ask(path, { method: 'POST', body, headers: { accept: table } })).status).toBe(406)
  })
})
