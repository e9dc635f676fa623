import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

describe('component statuses', () => {
  it('report storage as a list, one object and a Table', async () => {
    const { ask } = await sampleServer()
    const conditions = [{ type: 'Healthy', status: 'True', message: 'ok' }]
    expect((await ask('/api/v1/componentstatuses')).json).toMatchObject({
      kind: 'ComponentStatusList',
      items: [{ metadata: { name: 'storage-0' }, conditions }],
    })
    expect((await ask('/api/v1/componentstatuses/storage-0')).json).toMatchObject({ kind: 'ComponentStatus', conditions })
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const { json } = await ask('/api/v1/componentstatuses', { headers: { accept } })
    expect(json.rows[0].cells).toEqual(['storage-0', 'Healthy', 'ok', ''])
  })

  it('have no continue token, as on kube-apiserver', async () => {
    const { ask } = await sampleServer()
    expect((await ask('/api/v1/componentstatuses')).json.metadata).toEqual({})
  })

  it('are selected by name', async () => {
    const { ask } = await sampleServer()
    const names = async (query: string) =>
      (await ask(`/api/v1/componentstatuses?${query}`)).json.items.map((item: { metadata: object }) => item.metadata)
    expect(await names('fieldSelector=metadata.name=storage-0')).toHaveLength(1)
    expect(await names('fieldSelector=metadata.name=x')).toEqual([])
    expect(await names('fieldSelector=metadata.namespace=')).toHaveLength(1)
    expect(await names('labelSelector=a')).toEqual([])
  })

  it.each([
    'resourceVersionMatch=Exact',
    'resourceVersionMatch=Exact&resourceVersion=0',
    'resourceVersionMatch=Bogus&resourceVersion=1',
    'sendInitialEvents=true',
    'limit=x',
    'timeoutSeconds=x',
    'fieldSelector=foo=bar',
  ])('refuse %s as other lists do [P154, P156, P157, P159]', async (query) => {
    const { ask } = await sampleServer()
    const { json } = await ask(`/api/v1/componentstatuses?${query}`)
    expect(json).toMatchObject({ code: 400, reason: 'BadRequest' })
    expect(json).toEqual((await ask(`/api/v1/serviceaccounts?${query}`)).json)
  })

  it('are deprecated and read-only [P303]', async () => {
    const { ask } = await sampleServer()
    const { headers } = await ask('/api/v1/componentstatuses')
    expect(headers['warning']).toEqual(['299 - "v1 ComponentStatus is deprecated in v1.19+"'])
    expect((await ask('/api/v1/componentstatuses/none')).json).toMatchObject({
      code: 404,
      message: 'componentstatus "none" not found',
    })
    const refused = await ask('/api/v1/componentstatuses', { method: 'POST', body: {} })
    expect(refused.status).toBe(405)
    expect(refused.headers['warning']).toBeUndefined()
  })
})
