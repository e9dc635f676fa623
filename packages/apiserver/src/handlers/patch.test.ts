import { turnsDuring } from '@krmkit/base/testing'
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
  it('cannot delete a pod through its status', async () => {
    const { ask } = await sampleServer()
    const send = (path: string, body: object) =>
      ask(`/api/v1/namespaces/default/pods/p${path}?fieldManager=ci`, { method: 'PATCH', headers: apply, body })
    expect((await send('', pod({}))).status).toBe(201)
    const { status, json } = await send('/status', pod({ message: 'm' }, { deletionTimestamp: '2020-01-01T00:00:00Z' }))
    expect(status).toBe(200)
    expect(json).toMatchObject({ status: { message: 'm' } })
    expect(json.metadata).not.toHaveProperty('deletionTimestamp')
  })

  it('reports conflicts before values that cannot be decoded', async () => {
    const { ask } = await sampleServer()
    const pods = '/api/v1/namespaces/default/pods'
    const timed = (startTime: string) => ({ ...pod({ startTime, message: startTime }), metadata: { name: 'p' } })
    await ask(pods, { method: 'POST', body: timed('2024-01-01T00:00:00Z') })
    const status = { ...timed('2024-01-01'), spec: undefined }
    await ask(`${pods}/p/status?fieldManager=a`, { method: 'PUT', body: timed('2024-01-01T00:00:00Z') })
    const send = (query: string) =>
      ask(`${pods}/p/status?fieldManager=b${query}`, { method: 'PATCH', headers: apply, body: status })
    expect((await send('')).json).toMatchObject({ reason: 'Conflict' })
    const { json } = await send('&force=true')
    expect(json).toMatchObject({ code: 400 })
    expect(json.message).toContain('parsing time "2024-01-01"')
  })

  it('warns of unknown fields only when the configuration does not conflict', async () => {
    const { ask } = await sampleServer()
    await ask(maps, { method: 'POST', body: map({ name: 'a' }, { k: 'v' }) })
    const body = { ...map({ name: 'a' }, { k: 'w' }), unknown: 1 }
    const send = (query: string) => ask(`${maps}/a?fieldManager=ci${query}`, { method: 'PATCH', headers: apply, body })
    const refused = await send('')
    expect([refused.status, refused.headers['warning']]).toEqual([409, undefined])
    expect((await send('&force=true')).headers['warning']).toEqual(['299 - "unknown field \\"unknown\\""'])
  })

  it('refuses a configuration that clears the name of an object', async () => {
    const { ask } = await sampleServer()
    await ask(maps, { method: 'POST', body: map({ name: 'a' }) })
    const send = (metadata: object) =>
      ask(`${maps}/a?fieldManager=ci`, { method: 'PATCH', headers: apply, body: map(metadata, { k: 'v' }) })
    expect((await send({})).status).toBe(200)
    const { json } = await send({ name: null })
    expect(json.message).toBe('the name of the object (a based on URL) was undeterminable: name must be provided')
  })

  it('refuses a configuration without metadata, which would remove all owned metadata', async () => {
    const { ask } = await sampleServer()
    const send = (body: object) => ask(`${maps}/a?fieldManager=ci`, { method: 'PATCH', headers: apply, body })
    const bare = { apiVersion: 'v1', kind: 'ConfigMap' }
    expect((await send(map({ name: 'a' }, { k: 'v' }))).status).toBe(201)
    expect((await send(bare)).status).toBe(200)
    expect((await send(map({ name: 'a', labels: { a: 'b' } }))).status).toBe(200)
    const { json } = await send(bare)
    expect(json).toMatchObject({ code: 400 })
    expect(json.message).toBe('the name of the object (a based on URL) was undeterminable: name must be provided')
    expect((await send({ ...bare, metadata: null })).json.metadata).not.toHaveProperty('labels')
  })

  it('does not create an object from a configuration with a uid', async () => {
    const { ask } = await sampleServer()
    const body = map({ name: 'a', uid: '11111111-2222-3333-4444-555555555555' })
    const { status, json } = await ask(`${maps}/a?fieldManager=ci`, { method: 'PATCH', headers: apply, body })
    expect(status).toBe(409)
    expect(json).toMatchObject({ reason: 'Conflict', details: { name: 'a', kind: 'configmaps' } })
    expect(json.message).toContain('no existing object was found')
    expect((await ask(`${maps}/a`)).status).toBe(404)
  })

  it('reports the uid of a missing object before a missing name, for storage version migrators, which send such requests', async () => {
    const { ask } = await sampleServer()
    const send = (metadata: object) => ask(`${maps}/a?fieldManager=ci`, { method: 'PATCH', headers: apply, body: map(metadata) })
    const { status, json } = await send({ uid: '11111111-2222-3333-4444-555555555555', resourceVersion: '1' })
    expect([status, json.reason]).toEqual([409, 'Conflict'])
    expect((await send({ resourceVersion: '1' })).json.message).toContain('name must be provided')
  })

  it('reports repeated keys before names, with unknown fields, after types and conflicts', async () => {
    const { ask } = await sampleServer()
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\nunknown: 1\ndata:\n  k: a\n  k: b\n'
    const send = (level: string) =>
      ask(`${maps}/a?fieldManager=ci&fieldValidation=${level}`, { method: 'PATCH', headers: apply, text })
    const strict = await send('Strict')
    expect([strict.status, strict.json.message]).toEqual([
      400,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n' +
        '  line 7: key "k" already set in map, unknown field "unknown": .unknown: field not declared in schema',
    ])
    const warned = await send('Warn')
    expect(warned.json.message).toBe('the name of the object (b) does not match the name on the URL (a)')
    expect(warned.headers.warning).toEqual(['299 - "line 7: key \\"k\\" already set in map"'])
    expect((await send('Ignore')).headers).not.toHaveProperty('warning')
    const wrong = { method: 'PATCH', headers: apply, text: text.replace('k: b', 'k: []') }
    const untyped = await ask(`${maps}/a?fieldManager=ci&fieldValidation=Strict`, wrong)
    expect([untyped.json.code, untyped.json.message]).toEqual([400, expect.not.stringContaining('already set')])
    await ask(maps, { method: 'POST', body: map({ name: 'a' }, { k: 'live' }) })
    const named = { method: 'PATCH', headers: apply, text: text.replace('name: b', 'name: a') }
    const { json, headers } = await ask(`${maps}/a?fieldManager=ci`, named)
    expect(json.reason).toBe('Conflict')
    expect(headers).not.toHaveProperty('warning')
  })

  it('tracks owners of objects above the size limit, which are refused', async () => {
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
  it('are ordered by operation', async () => {
    const { ask } = await sampleServer()
    await ask(maps, { method: 'POST', body: map({ name: 'a' }) })
    const text = '[{"op":"add","path":"/data","value":{},"foo":1},{"op":"add","path":"/x","path":"/data/a","value":"b"}]'
    const headers = { 'content-type': 'application/json-patch+json' }
    const { json } = await ask(`${maps}/a?fieldValidation=Strict`, { method: 'PATCH', headers, text })
    expect(json).toMatchObject({ code: 400 })
    expect(json.message).toContain('json patch unknown field "[0].foo", json patch duplicate field "[1].path"')
  })
})

describe('the type that a patch leaves', () => {
  const merge = { 'content-type': 'application/merge-patch+json' }
  const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
  const created = async () => {
    const { ask } = await sampleServer()
    await ask(maps, { method: 'POST', body: map({ name: 'a' }, { k: 'v' }) })
    return ask
  }

  it('is that of the resource when a merge patch removes the kind', async () => {
    const ask = await created()
    const { status, json } = await ask(`${maps}/a`, { method: 'PATCH', headers: merge, body: { kind: null, data: { b: 'c' } } })
    expect(status).toBe(200)
    expect(json).toMatchObject({ kind: 'ConfigMap', data: { k: 'v', b: 'c' } })
  })

  it.each([
    [{ kind: 'X' }, 'no kind "X" is registered for version "v1" in scheme "pkg/runtime/scheme.go:110"'],
    [
      { apiVersion: null, kind: 'X' },
      'no kind "X" is registered for the internal version of group "" in scheme "pkg/runtime/scheme.go:110"',
    ],
    [{ kind: 'Pod' }, 'converting (v1.Pod) to (core.ConfigMap): unknown conversion'],
    [
      { kind: 1 },
      "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
    ],
    [{ apiVersion: 'a/b/c' }, 'unexpected GroupVersion string: a/b/c'],
  ])('cannot change by a merge patch: %j', async (body, message) => {
    const ask = await created()
    const { json } = await ask(`${maps}/a`, { method: 'PATCH', headers: merge, body })
    expect(json).toMatchObject({ code: 400, message })
  })

  it.each([
    ['apps/v1beta1', { replicas: 3 }, { metadata: { labels: { app: 'web' } }, spec: { replicas: 3 } }],
    [
      'extensions/v1beta1',
      { rollbackTo: { revision: 2 }, revisionHistoryLimit: null },
      {
        metadata: { annotations: { 'deprecated.deployment.rollback.to': '2' } },
        spec: { replicas: 2, revisionHistoryLimit: 2_147_483_647 },
      },
    ],
  ])('may become the removed version %s, from which the result is converted', async (apiVersion, spec, expected) => {
    const { ask } = await sampleServer()
    const deployments = '/apis/apps/v1/namespaces/default/deployments'
    const labels = { app: 'web' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const body = { metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: labels }, template } }
    expect((await ask(deployments, { method: 'POST', body })).status).toBe(201)
    const { status, json } = await ask(`${deployments}/web`, { method: 'PATCH', headers: merge, body: { apiVersion, spec } })
    expect(status).toBe(200)
    expect(json).toMatchObject({ apiVersion: 'apps/v1', ...expected })
    expect(json.spec).not.toHaveProperty('rollbackTo')
  })

  it('makes every member unknown when a merge patch removes the version', async () => {
    const ask = await created()
    const body = { apiVersion: null }
    const { json, headers } = await ask(`${maps}/a`, { method: 'PATCH', headers: merge, body })
    expect(json.message).toBe('the name of the object (a based on URL) was undeterminable: name must be provided')
    expect(headers.warning).toEqual(['299 - "unknown field \\"data\\""', '299 - "unknown field \\"metadata\\""'])
    const strict = await ask(`${maps}/a?fieldValidation=Strict`, { method: 'PATCH', headers: merge, body })
    expect(strict.json.message).toContain('strict decoding error: unknown field "data", unknown field "metadata"')
  })

  it('is ignored in a strategic merge patch', async () => {
    const ask = await created()
    const body = { apiVersion: 'a/b/c', kind: 'X', metadata: { name: 'a' }, $patch: 'replace' }
    const { status, json } = await ask(`${maps}/a`, { method: 'PATCH', headers: strategic, body })
    expect(status).toBe(200)
    expect(json).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
    expect(json).not.toHaveProperty('data')
    const wrong = await ask(`${maps}/a`, { method: 'PATCH', headers: strategic, body: { kind: 1 } })
    expect(wrong.status).toBe(400)
  })

  it('does not save an object without a name', async () => {
    const ask = await created()
    const { json } = await ask(`${maps}/a`, { method: 'PATCH', headers: merge, body: { metadata: null } })
    expect(json.message).toBe('the name of the object (a based on URL) was undeterminable: name must be provided')
  })

  it('lists the unknown fields of a strategic merge patch in the order of their paths', async () => {
    const ask = await created()
    const body = { z: 1, metadata: { y: 1 }, a: 1 }
    const { headers } = await ask(`${maps}/a`, { method: 'PATCH', headers: strategic, body })
    expect(headers.warning).toEqual(['a', 'metadata.y', 'z'].map((path) => `299 - "unknown field \\"${path}\\""`))
  })
})

describe('a patch of an unknown media type', () => {
  it('is refused without the deprecation warning of its resource', async () => {
    const { ask } = await sampleServer()
    const path = '/api/v1/namespaces/default/endpoints/a'
    const { status, headers } = await ask(path, { method: 'PATCH', headers: { 'content-type': 'text/plain' }, text: '{}' })
    expect(status).toBe(415)
    expect(headers).not.toHaveProperty('warning')
  })
})

describe('unusual and large patches', () => {
  const json = { 'content-type': 'application/json-patch+json' }

  it('treats __proto__ as an ordinary key', async () => {
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

  it('serves other requests while a large patch is applied', async () => {
    const { ask } = await sampleServer()
    const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key-${i}`, '']))
    expect((await ask(maps, { method: 'POST', body: map({ name: 'large' }, data) })).status).toBe(201)
    const changed = Object.fromEntries(Object.keys(data).map((key) => [key, 'x']))
    const { turns } = await turnsDuring(async () => {
      for (const type of ['merge-patch', 'strategic-merge-patch']) {
        const headers = { 'content-type': `application/${type}+json` }
        const { status } = await ask(`${maps}/large`, { method: 'PATCH', headers, body: { data: changed } })
        expect(status).toBe(200)
      }
    })
    expect(turns).toBeGreaterThan(6)
  })
})

describe('malformed patches', () => {
  const merge = { 'content-type': 'application/merge-patch+json' }

  it('are refused after the search for the object', async () => {
    const { ask } = await sampleServer()
    const send = (query = '') => ask(`${maps}/a${query}`, { method: 'PATCH', headers: merge, text: '{} x' })
    expect((await send()).status).toBe(404)
    await ask(maps, { method: 'POST', body: map({ name: 'a' }) })
    const { status, json } = await send()
    expect([status, json.message]).toEqual([400, "error decoding patch: invalid character 'x' after top-level value"])
    expect((await send('?fieldValidation=Ignore')).json.message).toBe('Invalid JSON Patch')
  })
})

describe('the order of checks', () => {
  const headers = { 'content-type': 'text/plain' }

  it('checks the media type of the body before the options in a creation, and after them in an update', async () => {
    const { ask } = await sampleServer()
    const code = async (method: string, path: string) => (await ask(path, { method, headers, text: '{}' })).status
    expect(await code('POST', `${maps}?fieldValidation=x`)).toBe(415)
    expect(await code('PUT', `${maps}/a?fieldValidation=x`)).toBe(422)
  })

  it('checks the Accept header of a deletecollection before its body', async () => {
    const { ask } = await sampleServer()
    const accept = 'application/json;as=Unknown;v=v1;g=meta.k8s.io'
    expect((await ask(maps, { method: 'DELETE', headers: { accept }, text: '"a"' })).status).toBe(406)
  })
})
