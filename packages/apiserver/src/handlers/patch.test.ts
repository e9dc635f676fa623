import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const apply = { 'content-type': 'application/apply-patch+yaml' }
const map = (metadata: object, data: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data })

const pod = (status: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }] },
  status,
})

describe('apply', () => {
  it('cannot delete a pod by way of its status', async () => {
    const { ask } = await sampleServer()
    const send = (path: string, body: object) =>
      ask(`/api/v1/namespaces/default/pods/p${path}?fieldManager=ci`, { method: 'PATCH', headers: apply, body })
    expect((await send('', pod({}))).status).toBe(201)
    const { status, json } = await send('/status', pod({ message: 'm' }, { deletionTimestamp: '2020-01-01T00:00:00Z' }))
    expect(status).toBe(200)
    expect(json).toMatchObject({ status: { message: 'm' } })
    expect(json.metadata).not.toHaveProperty('deletionTimestamp')
  })

  it('makes nothing of a configuration that names an object by its uid', async () => {
    const { ask } = await sampleServer()
    const body = map({ name: 'a', uid: '11111111-2222-3333-4444-555555555555' })
    const { status, json } = await ask(`${maps}/a?fieldManager=ci`, { method: 'PATCH', headers: apply, body })
    expect(status).toBe(409)
    expect(json).toMatchObject({ reason: 'Conflict', details: { name: 'a', kind: 'configmaps' } })
    expect(json.message).toContain('no existing object was found')
    expect((await ask(`${maps}/a`)).status).toBe(404)
  })

  it('notes owners even where they make the object too large, which is refused', async () => {
    const { ask } = await sampleServer()
    const data = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`${'key-'.repeat(20)}${i}`, '']))
    expect((await ask(maps, { method: 'POST', body: map({ name: 'large' }, data) })).status).toBe(201)
    const { json } = await ask(`${maps}/large`)
    expect(json.metadata).not.toHaveProperty('managedFields')
    const applied = await ask(`${maps}/large?fieldManager=ci`, {
      method: 'PATCH',
      headers: apply,
      body: map({ name: 'large' }, data),
    })
    expect(applied.status).toBe(413)
    expect((await ask(`${maps}/large`)).json).toEqual(json)
  })
})

describe('problems of a JSON patch', () => {
  it('are told operation by operation', async () => {
    const { ask } = await sampleServer()
    await ask(maps, { method: 'POST', body: map({ name: 'a' }) })
    const text = '[{"op":"add","path":"/data","value":{},"foo":1},{"op":"add","path":"/x","path":"/data/a","value":"b"}]'
    const headers = { 'content-type': 'application/json-patch+json' }
    const { json } = await ask(`${maps}/a?fieldValidation=Strict`, { method: 'PATCH', headers, text })
    expect(json).toMatchObject({ code: 400 })
    expect(json.message).toContain('json patch unknown field "[0].foo", json patch duplicate field "[1].path"')
  })
})

describe('odd and large patches', () => {
  const json = { 'content-type': 'application/json-patch+json' }

  it('a key called __proto__ is a key like any other', async () => {
    const { ask } = await sampleServer()
    await ask(maps, { method: 'POST', body: map({ name: 'a' }, { k: 'v' }) })
    const text = '[{"op":"add","path":"/data/__proto__","value":"x"},{"op":"add","path":"/data/constructor","value":"y"}]'
    const { status, json: object } = await ask(`${maps}/a`, { method: 'PATCH', headers: json, text })
    expect(status).toBe(200)
    expect(Object.entries(object.data as object)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
      ['k', 'v'],
    ])
  })

  it('others are served while a large patch is worked out', async () => {
    const { ask } = await sampleServer()
    const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key-${i}`, '']))
    expect((await ask(maps, { method: 'POST', body: map({ name: 'large' }, data) })).status).toBe(201)
    const changed = Object.fromEntries(Object.keys(data).map((key) => [key, 'x']))
    let turns = 0
    let done = false
    const count = () => {
      turns++
      if (!done) setImmediate(count)
    }
    setImmediate(count)
    for (const type of ['merge-patch', 'strategic-merge-patch']) {
      const headers = { 'content-type': `application/${type}+json` }
      const { status } = await ask(`${maps}/large`, { method: 'PATCH', headers, body: { data: changed } })
      expect(status).toBe(200)
    }
    done = true
    expect(turns).toBeGreaterThan(6)
  })
})
