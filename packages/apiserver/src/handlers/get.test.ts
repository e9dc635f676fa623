import { readEnvelope } from '@krmkit/schema/protobuf'
import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

const place = '/api/v1/namespaces/default'
const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }

describe('reading', () => {
  it.each([
    ['?export=true', 400],
    ['?export', 400],
    ['?export=false', 200],
    ['?export=0', 200],
  ])('of %s returns %d: exports were removed', async (query, status) => {
    const { ask } = await sampleServer()
    expect((await ask(`${place}${query}`)).status).toBe(status)
    expect((await ask(`${place}/configmaps${query}`)).status).toBe(200)
  })

  it('errors have no transforms and are JSON when one is requested', async () => {
    const { ask } = await sampleServer()
    const type = async (accept: string) =>
      (await ask(`${place}/configmaps/none`, { headers: { accept } })).headers['content-type']
    const form = ';as=Table;g=meta.k8s.io;v=v1'
    expect(await type('application/yaml')).toBe('application/yaml')
    expect(await type(`application/yaml${form}`)).toBe('application/json')
    expect(await type(`application/json${form},application/yaml`)).toBe('application/yaml')
  })

  it('an unknown includeObject lists the supported values', async () => {
    const { ask } = await sampleServer()
    const { status, json } = await ask(`${place}/configmaps?includeObject=all`, { headers: table })
    expect(status).toBe(400)
    expect(json.message).toContain(`Invalid value: "all": must be 'Metadata', 'Object', 'None', or empty`)
    expect((await ask(`${place}/configmaps?includeObject=all`)).status).toBe(200)
    const watching = await ask(`${place}/configmaps?includeObject=all&watch=1`, { headers: table })
    expect(watching.status).toBe(400)
  })

  it('includes annotations that hold fields of other versions only in whole objects', async () => {
    const { ask } = await sampleServer()
    const metadata = { name: 'd', annotations: { a: 'b' } }
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const path = '/apis/apps/v1/namespaces/default/daemonsets'
    await ask(path, { method: 'POST', body: { metadata, spec: { selector: { matchLabels: { a: 'b' } }, template } } })
    const all = { a: 'b', 'deprecated.daemonset.template.generation': '1' }
    expect((await ask(`${path}/d`)).json.metadata.annotations).toEqual(all)
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
    expect((await ask(`${path}/d`, { headers: { accept } })).json.metadata.annotations).toEqual({ a: 'b' })
    expect((await ask(path, { headers: table })).json.rows[0].object.metadata.annotations).toEqual({ a: 'b' })
    expect((await ask(`${path}?includeObject=Object`, { headers: table })).json.rows[0].object.metadata.annotations).toEqual(all)
  })

  it('checks the options of a list before the Accept header, and the Accept header before the field selector', async () => {
    const { ask } = await sampleServer()
    const list = async (query: string, accept = 'application/json;as=X;g=meta.k8s.io;v=v1') => {
      const { json } = await ask(`${place}/configmaps?${query}`, { headers: { accept } })
      return json.message
    }
    for (const watch of ['', '&watch=1']) {
      expect(await list(`limit=x&labelSelector=,${watch}`)).toBe('strconv.ParseInt: parsing "x": invalid syntax')
      expect(await list(`resourceVersionMatch=x&labelSelector=,${watch}`)).toContain("found ','")
      expect(await list(`resourceVersionMatch=x&fieldSelector=a=b${watch}`)).toContain('resourceVersionMatch')
      expect(await list(`fieldSelector=a=b${watch}`)).toContain('media types')
      expect(await list(`fieldSelector=a=b${watch}`, '*/*')).toContain('field selector')
    }
  })

  it('creates by PUT and apply, ignoring the resourceVersion in the body', async () => {
    const { ask } = await sampleServer()
    const path = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
    const body = (name: string) => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, resourceVersion: '5' },
    })
    expect((await ask(`${path}/a`, { method: 'PUT', body: body('a') })).status).toBe(201)
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    expect((await ask(`${path}/b?fieldManager=m`, { method: 'PATCH', body: body('b'), headers })).status).toBe(201)
    expect((await ask(path, { method: 'POST', body: body('c') })).status).toBe(400)
  })

  it('encodes metadata lists in protobuf with the field numbers of their version', async () => {
    const { ask } = await sampleServer()
    const read = async (version: string) => {
      const accept = `application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=${version}`
      const { text } = await ask(`${place}/configmaps`, { headers: { accept } })
      // The tag of the only field, which is the metadata. The text is lossless, because all bytes of an empty list are ASCII.
      return readEnvelope(new TextEncoder().encode(text)).raw[0]
    }
    expect(await read('v1')).toBe((1 << 3) | 2)
    expect(await read('v1beta1')).toBe((2 << 3) | 2)
  })

  it('returns objects and their status as a Table, and refuses a Table of other subresources', async () => {
    const { ask } = await sampleServer()
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    await ask(`${place}/pods`, { method: 'POST', body: { metadata: { name: 'p' }, spec } })
    const read = async (path: string) => (await ask(`${place}/${path}`, { headers: table })).json
    expect(await read('pods/p')).toMatchObject({ kind: 'Table' })
    expect(await read('pods/p/status')).toMatchObject({ kind: 'Table' })
    expect(await read('pods/p/resize')).toMatchObject({ kind: 'Status', code: 406 })
    expect(await read('pods/p/ephemeralcontainers')).toMatchObject({ kind: 'Status', code: 406 })
    const body = { metadata: { name: 'default' } }
    expect((await ask(`${place}/finalize`, { method: 'PUT', body, headers: table })).status).toBe(406)
  })
})
