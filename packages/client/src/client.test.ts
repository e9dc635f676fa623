import { ApiError } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createClient } from './client.ts'
import { ClientError } from './client-error.ts'
import { createInProcessClient, createInProcessTransport } from './in-process.ts'
import { resourceType, subresourceType } from './resource.ts'
import { eagerClock, fakeApi, json, Note, noJitter, note, noteList, status } from './testing/fake-api.ts'

const Node = resourceType({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })
const common = { random: noJitter, clock: eagerClock() }
const start = (...answers: Parameters<typeof fakeApi>) => {
  const api = fakeApi(...answers)
  return { ...api, client: createInProcessClient(api.handle, common) }
}
const typed = (object: object) => ({ apiVersion: 'example.com/v1', kind: 'Note', ...object })

describe('reading', () => {
  it('gets an object in a given, the default, or no namespace', async () => {
    const { client, seen } = start(json(note('a', 1)), json(note('a', 1)), json({ metadata: { name: 'n' } }))
    expect(await client.get(Note, 'a', { namespace: 'x y', resourceVersion: '0' })).toEqual(typed(note('a', 1)))
    await client.get(Note, 'a')
    expect(await client.get(Node, 'n')).toMatchObject({ apiVersion: 'v1', kind: 'Node' })
    expect(seen.map(({ path, query }) => `${path}?${query}`)).toEqual([
      '/apis/example.com/v1/namespaces/x%20y/notes/a?resourceVersion=0',
      '/apis/example.com/v1/namespaces/default/notes/a?',
      '/api/v1/nodes/n?',
    ])
  })

  it('lists all or one namespace and sets the type of items', async () => {
    const { client, seen } = start(
      noteList(7, [note('a', 1)]),
      noteList(5, []),
      json({ kind: 'NoteList', metadata: {}, items: null }),
    )
    const list = await client.list(Note, { labelSelector: 'a=b,c in (d, e)', fieldSelector: 'metadata.name=x' })
    expect(list).toMatchObject({ metadata: { resourceVersion: '7' }, items: [typed(note('a', 1))] })
    await client.list(Note, { namespace: 'x', resourceVersion: '5', resourceVersionMatch: 'Exact', limit: 2 })
    expect((await client.list(Note)).items).toEqual([])
    expect(seen[0]).toMatchObject({
      path: '/apis/example.com/v1/notes',
      query: 'labelSelector=a%3Db%2Cc%20in%20(d%2C%20e)&fieldSelector=metadata.name%3Dx',
    })
    expect(seen[1]).toMatchObject({
      path: '/apis/example.com/v1/namespaces/x/notes',
      query: 'limit=2&resourceVersion=5&resourceVersionMatch=Exact',
    })
  })

  it('rejects a list of a version other than the exact one requested [P178] [P181]', async () => {
    const exact = { resourceVersion: '5', resourceVersionMatch: 'Exact' } as const
    for (const limit of [undefined, 2]) {
      const { client } = start(noteList(7, []), json({ kind: 'NoteList', metadata: {}, items: [] }), noteList(5, []))
      const options = { ...exact, ...(limit === undefined ? {} : { limit }) }
      await expect(client.list(Note, options)).rejects.toMatchObject({
        code: 'InvalidResponse',
        message: expect.stringContaining('the list has version 7, but exactly 5 was requested'),
      })
      await expect(client.list(Note, options)).rejects.toThrow('the list has no version')
      expect((await client.list(Note, options)).metadata.resourceVersion).toBe('5')
    }
    const { client } = start(noteList(7, []), noteList(5, [], { continue: 'x' }), noteList(5, []), noteList(7, []))
    await expect(client.listPages(Note, exact)[Symbol.asyncIterator]().next()).rejects.toThrow('exactly 5')
    for await (const page of client.listPages(Note, exact)) expect(page.metadata.resourceVersion).toBe('5')
    // Any newer version satisfies `NotOlderThan`.
    await client.list(Note, { resourceVersion: '5', resourceVersionMatch: 'NotOlderThan' })
  })

  it('iterates over all pages of a list', async () => {
    const { client, seen } = start(noteList(7, [note('a', 1)], { continue: 'to/ken' }), noteList(7, [note('b', 2)]))
    const names: unknown[] = []
    for await (const page of client.listPages(Note, { limit: 1, resourceVersion: '0' }))
      names.push(...page.items.map(({ metadata }) => metadata.name))
    expect(names).toEqual(['a', 'b'])
    expect(seen.map(({ query }) => query)).toEqual(['limit=1&resourceVersion=0', 'limit=1&continue=to%2Fken'])
  })

  it('accepts resource definitions of kinds', async () => {
    const { client, seen } = start(json({ metadata: {} }))
    const defined = {
      group: 'apps',
      version: 'v1',
      resource: { name: 'deployments', namespaced: true },
      kind: { kind: 'Deployment' },
    }
    expect(await client.get(defined, 'd')).toMatchObject({ apiVersion: 'apps/v1', kind: 'Deployment' })
    expect(seen[0]?.path).toBe('/apis/apps/v1/namespaces/default/deployments/d')
  })
})

describe('writing', () => {
  it('creates with type and namespace filled in', async () => {
    const { client, seen } = start(json(typed(note('a', 1)), { status: 201 }), json(typed(note('b', 1))))
    await client.create(
      Note,
      { metadata: { name: 'a' }, spec: { text: 'x' } },
      { dryRun: true, fieldManager: 'me', fieldValidation: 'Strict' },
    )
    await client.create(Note, { metadata: { generateName: 'b-', namespace: 'other' }, spec: { text: 'x' } })
    expect(seen[0]).toMatchObject({
      method: 'POST',
      path: '/apis/example.com/v1/namespaces/default/notes',
      query: 'dryRun=All&fieldManager=me&fieldValidation=Strict',
      body: typed({ metadata: { name: 'a' }, spec: { text: 'x' } }),
      headers: { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'krmkit' },
    })
    expect(seen[1]?.path).toBe('/apis/example.com/v1/namespaces/other/notes')
  })

  it('updates the object named in the body, and its subresources', async () => {
    const { client, seen } = start(json({ metadata: {} }), json({ metadata: {} }))
    const object = typed(note('a', 3, { namespace: 'x' })) as Note
    await client.update(Note, object)
    await client.update(Note, object, { subresource: 'status' })
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'PUT /apis/example.com/v1/namespaces/x/notes/a',
      'PUT /apis/example.com/v1/namespaces/x/notes/a/status',
    ])
    await expect(client.update(Note, { metadata: {}, spec: { text: '' } })).rejects.toMatchObject({ code: 'InvalidRequest' })
    await expect(client.get(Note, '..')).rejects.toBeInstanceOf(ClientError)
  })

  it('sends all patch types', async () => {
    const { client, seen } = start(...Array.from({ length: 4 }, () => json({ metadata: {} })))
    await client.patch(Note, 'a', { type: 'merge', patch: { spec: { text: 'y' } } })
    await client.patch(Note, 'a', { type: 'strategic', patch: {} })
    await client.patch(Note, 'a', { type: 'json', patch: [{ op: 'test', path: '/spec', value: null }] })
    await client.apply(Note, { metadata: { name: 'a' }, spec: { text: 'z' } }, { fieldManager: 'me', force: true })
    expect(seen.map(({ headers, query }) => [headers['content-type'], query])).toEqual([
      ['application/merge-patch+json', ''],
      ['application/strategic-merge-patch+json', ''],
      ['application/json-patch+json', ''],
      ['application/apply-patch+yaml', 'fieldManager=me&force=true'],
    ])
  })

  it('deletes one object and collections', async () => {
    const success = json({ kind: 'Status', apiVersion: 'v1', status: 'Success' })
    const { client, seen } = start(success, json(note('a', 4)), noteList(5, [note('b', 1)]))
    expect(await client.delete(Note, 'a')).toMatchObject({ kind: 'Status' })
    expect(
      await client.delete(Note, 'a', {
        propagationPolicy: 'Foreground',
        gracePeriodSeconds: 0,
        preconditions: { uid: 'u' },
        dryRun: true,
      }),
    ).toMatchObject({ kind: 'Note' })
    expect(await client.deleteCollection(Note, { namespace: 'x', labelSelector: 'a' })).toMatchObject({
      items: [{ kind: 'Note' }],
    })
    expect(seen[0]?.body).toBeUndefined()
    expect(seen[1]?.body).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      gracePeriodSeconds: 0,
      propagationPolicy: 'Foreground',
      preconditions: { uid: 'u' },
      dryRun: ['All'],
    })
    expect(seen[2]).toMatchObject({ method: 'DELETE', path: '/apis/example.com/v1/namespaces/x/notes', query: 'labelSelector=a' })
  })

  it('supports subresources with their own object types', async () => {
    const Scale = subresourceType(Note, { name: 'scale', apiVersion: 'autoscaling/v1', kind: 'Scale' })
    const { client, seen } = start(json({ metadata: {} }), json({ metadata: {} }))
    expect(await client.get(Scale, 'a')).toMatchObject({ apiVersion: 'autoscaling/v1', kind: 'Scale' })
    await client.create(Scale, { metadata: { name: 'a' } })
    expect(seen.map(({ path }) => path)).toEqual(
      Array.from({ length: 2 }, () => '/apis/example.com/v1/namespaces/default/notes/a/scale'),
    )
    expect(seen[1]?.body).toMatchObject({ apiVersion: 'autoscaling/v1', kind: 'Scale' })
  })
})

describe('errors', () => {
  it('hold the Status of the response', async () => {
    const { client } = start(status(404, 'NotFound', 'notes "a" not found', { details: { name: 'a' } }))
    const error = await client.get(Note, 'a').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'notes "a" not found',
      status: { details: { name: 'a' } },
    })
  })

  it('without a Status are derived from the status code', async () => {
    const { client } = start(json('gateway down', { status: 502 }), json('{"kind":"Status"', { status: 403 }))
    await expect(client.get(Note, 'a')).rejects.toMatchObject({ code: 502, reason: 'InternalError' })
    await expect(client.get(Note, 'a')).rejects.toMatchObject({ code: 403, reason: 'Forbidden' })
  })

  it('are ClientErrors for invalid responses', async () => {
    const { client } = start(json('<html>'), json('null'))
    await expect(client.get(Note, 'a')).rejects.toMatchObject({ code: 'InvalidResponse' })
    await expect(client.list(Note)).rejects.toMatchObject({ code: 'InvalidResponse' })
  })

  it('with Retry-After are retried, up to the maximum', async () => {
    const busy = json('', { status: 429, headers: { 'retry-after': '7' } })
    const clock = eagerClock()
    const { handle, seen } = fakeApi(busy, busy, json(note('a', 1)), busy, busy, json('', { status: 503 }))
    const client = createInProcessClient(handle, { random: noJitter, clock, maxRetries: 2 })
    await client.get(Note, 'a')
    expect([seen.length, clock.now()]).toEqual([3, 14_000])
    await expect(client.get(Note, 'a')).rejects.toMatchObject({ code: 503 })
    expect(seen).toHaveLength(6)
  })

  it('do not include warnings, which are passed to onWarning', async () => {
    const warnings: string[] = []
    const { handle } = fakeApi(
      json(note('a', 1), { headers: { warning: ['299 - "one \\"quoted\\""', '299 - "two", 299 - "three"'] } }),
    )
    await createInProcessClient(handle, { onWarning: (text) => warnings.push(text) }).get(Note, 'a')
    expect(warnings).toEqual(['one "quoted"', 'two', 'three'])
  })
})

describe('raw requests', () => {
  it('are sent unchanged', async () => {
    const { client, seen } = start(json('ok'), status(418, 'Teapot'))
    const response = await client.request({ path: '/healthz?verbose&x=%2F', headers: { Accept: 'text/plain' } })
    expect(await response.text()).toBe('ok')
    const refused = await client.request({ method: 'POST', path: '/x', body: { a: 1 } })
    expect([refused.status, await refused.json()]).toEqual([418, expect.objectContaining({ reason: 'Teapot' })])
    expect(seen).toMatchObject([
      { method: 'GET', path: '/healthz', query: 'verbose&x=%2F', headers: { accept: 'text/plain' } },
      { method: 'POST', body: { a: 1 }, headers: { 'content-type': 'application/json' } },
    ])
  })
})

describe('user', () => {
  it('is set in-process, or left to the server', async () => {
    const { handle, seen } = fakeApi(json({ metadata: {} }), json({ metadata: {} }))
    const user = { username: 'alice', groups: ['dev'] }
    await createInProcessClient({ handle }, { user }).get(Note, 'a')
    await createInProcessClient({ handle }).get(Note, 'a')
    expect(seen.map((one) => one.user)).toEqual([user, undefined])
  })

  it('may be impersonated', async () => {
    const { handle, seen } = fakeApi(json({ metadata: {} }))
    const impersonate = { user: 'bob', groups: ['a', 'b'], uid: '1', extra: { 'Example.com/Key': ['x'] } }
    await createClient(createInProcessTransport(handle), { impersonate }).get(Note, 'a')
    expect(seen[0]?.headers).toMatchObject({
      'impersonate-user': 'bob',
      'impersonate-group': ['a', 'b'],
      'impersonate-uid': '1',
      'impersonate-extra-example.com%2fkey': ['x'],
    })
  })
})

describe('aborting', () => {
  it('rejects a call immediately when its signal aborts', async () => {
    const abort = new AbortController()
    let serverSignal: AbortSignal | undefined
    const client = createInProcessClient((request) => {
      serverSignal = request.signal
      return new Promise(() => undefined)
    })
    const call = client.get(Note, 'a', { signal: abort.signal })
    abort.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    expect(serverSignal?.aborted).toBe(true)
    await expect(client.get(Note, 'a', { signal: abort.signal })).rejects.toThrow('enough')
  })

  it('aborts all requests in flight when the client closes', async () => {
    const { client } = start()
    await client.close()
    await expect(client.get(Note, 'a')).rejects.toMatchObject({ code: 'Closed' })
  })
})
