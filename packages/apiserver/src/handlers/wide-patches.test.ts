import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const apply = { 'content-type': 'application/apply-patch+yaml' }
const merge = { 'content-type': 'application/merge-patch+json' }
const jsonPatch = { 'content-type': 'application/json-patch+json' }
const strategic = { 'content-type': 'application/strategic-merge-patch+json' }

/** Far more members than one slice processes, and than a call takes as arguments. */
const wide = 150_000
const members = (value: unknown, length = wide) => Object.fromEntries(Array.from({ length }, (_, i) => [`u${i}`, value]))

async function created() {
  const { ask } = await sampleServer()
  await ask(maps, { method: 'POST', body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } } })
  return ask
}

describe('patches with many unknown members', () => {
  it('report the first hundred when they remove the version', async () => {
    const ask = await created()
    const body = { ...members(1), apiVersion: null }
    const { json, headers } = await ask(`${maps}/a`, { method: 'PATCH', headers: merge, body })
    expect(json.message).toBe('the name of the object (a based on URL) was undeterminable: name must be provided')
    expect((headers['warning'] as unknown as string[]).length).toBeLessThanOrEqual(100)
    const strict = await ask(`${maps}/a?fieldValidation=Strict`, { method: 'PATCH', headers: merge, body })
    expect(strict.json).toMatchObject({ code: 400 })
    expect(strict.json.message).toContain(
      'strict decoding error: unknown field "data", unknown field "metadata", unknown field "u0"',
    )
  })

  it('may remove the kind', async () => {
    const ask = await created()
    const body = { ...members(1), kind: null, data: { b: 'c' } }
    const { status, json } = await ask(`${maps}/a`, { method: 'PATCH', headers: merge, body })
    expect([status, json]).toMatchObject([200, { kind: 'ConfigMap', data: { k: 'v', b: 'c' } }])
    expect(Object.keys(json as object)).not.toContain('u1')
  })

  it.each([
    ['with a name', { metadata: { name: 'b' } }],
    ['without a name', {}],
  ])('apply what is known, %s', async (_, named) => {
    const ask = await created()
    const body = { apiVersion: 'v1', kind: 'ConfigMap', ...named, ...members(1), data: { b: 'c' } }
    const { status, json } = await ask(`${maps}/b?fieldManager=m`, { method: 'PATCH', headers: apply, body })
    if ('metadata' in named) expect([status, json]).toMatchObject([201, { metadata: { name: 'b' }, data: { b: 'c' } }])
    else expect(json.message).toBe('the name of the object (b based on URL) was undeterminable: name must be provided')
  })

  it('replace a map', async () => {
    const ask = await created()
    const body = { data: { ...members(null, 50_000), $patch: 'replace', b: 'c' } }
    const { status, json } = await ask(`${maps}/a`, { method: 'PATCH', headers: strategic, body })
    expect(status).toBe(200)
    expect(json).toMatchObject({ data: { b: 'c', u1: '' } })
    expect((json as { data: object }).data).not.toHaveProperty('k')
  })

  it('report the first hundred of the operations of a JSON patch', async () => {
    const ask = await created()
    const operation = { op: 'add', path: '/data/x', value: 'v', ...members(1) }
    const send = (query: string) => ask(`${maps}/a${query}`, { method: 'PATCH', headers: jsonPatch, body: [operation] })
    const { status, headers } = await send('?dryRun=All')
    expect(status).toBe(200)
    expect((headers['warning'] as unknown as string[])[0]).toBe('299 - "json patch unknown field \\"[0].u0\\""')
    expect((headers['warning'] as unknown as string[]).length).toBeLessThanOrEqual(100)
    expect((await send('?fieldValidation=Strict')).json).toMatchObject({ code: 400 })
  })
})
