import { describe, expect, it } from 'vitest'
import { createClient } from './client.ts'
import { createFetchTransport } from './fetch-transport.ts'
import { createInProcessClient, createInProcessTransport } from './in-process.ts'
import { createInformer } from './informer.ts'
import type { Client } from './interfaces.ts'
import { loadKubeconfig } from './kubeconfig.ts'
import { createRemoteClient, createRemoteTransport } from './remote.ts'
import { typeOf } from './resource.ts'
import { fakeApi, json, Note, note } from './testing/fake-api.ts'

/**
 * Arguments of wrong kinds, as passed by untyped callers. Each must be an error before any request that states the expected
 * value.
 */

const wrong = (value: unknown) => value as never
const invalid = (message: string) =>
  expect.objectContaining({ name: 'ClientError', code: 'InvalidRequest', message: expect.stringContaining(message) })

type Case = readonly [call: (client: Client) => unknown, message: string]

const names: readonly Case[] = [undefined, null, 5, ['a'], { metadata: { name: 'a' } }].flatMap((name): Case[] => [
  [(client) => client.get(Note, wrong(name)), 'get: name is a string, not '],
  [(client) => client.delete(Note, wrong(name)), 'delete: name is a string, not '],
  [(client) => client.patch(Note, wrong(name), { type: 'merge', patch: {} }), 'patch: name is a string, not '],
])

const calls: readonly Case[] = [
  ...names,
  [(client) => client.delete(Note, wrong(note('a', 1))), 'pass its metadata.name'],
  [
    (client) => client.get(Note, 'a', wrong('shop')),
    'get needs its options as an object such as { namespace: "shop" }, not "shop"',
  ],
  [(client) => client.list(Note, wrong('shop')), 'list needs its options as an object such as { namespace: "shop" }'],
  [(client) => client.list(Note, wrong(null)), 'list needs its options as an object, not null'],
  [(client) => client.list(Note, wrong({ namspace: 'shop' })), 'list has no "namspace"; did you mean "namespace"?'],
  [(client) => client.list(Note, wrong({ namespace: null })), 'list: namespace is a string, not null'],
  [
    (client) => client.list(Note, wrong({ labelSelector: { a: 'b' } })),
    'labelSelector is a string, such as "app=web", not { a }',
  ],
  [(client) => client.list(Note, wrong({ limit: '5' })), 'list: limit is a number, not "5"'],
  [(client) => client.list(Note, wrong({ toString: '5' })), 'list has no "toString"'],
  [(client) => client.listPages(Note, wrong('shop'))[Symbol.asyncIterator]().next(), 'listPages needs its options as an object'],
  [async (client) => client.watch(Note, wrong({ namspace: 'shop' })), 'watch has no "namspace"'],
  [(client) => client.deleteCollection(Note, wrong({ name: 'a' })), 'deleteCollection has no "name"'],
  [(client) => client.deleteCollection(Note, wrong('a')), 'deleteCollection needs its options as an object'],
  [(client) => client.delete(Note, 'a', wrong({ dryRun: 'All' })), 'delete: dryRun is true or false, not "All"'],
  [(client) => client.create(Note, wrong({})), 'create: metadata of the object is an object, not undefined'],
  [(client) => client.create(Note, wrong(null)), 'create: the object is { metadata, … }, not null'],
  [(client) => client.update(Note, wrong('kind: Note')), 'update: the object is { metadata, … }, not "kind: Note"'],
  [(client) => client.update(Note, wrong({ metadata: {} })), 'the Note has no name'],
  [(client) => client.update(Note, wrong({ metadata: { name: null } })), 'the Note has no name'],
  [
    (client) => client.apply(Note, wrong(undefined), { fieldManager: 'a' }),
    'apply: the object is { metadata, … }, not undefined',
  ],
  [(client) => client.apply(Note, note('a', 1), wrong(undefined)), 'apply needs options with fieldManager'],
  [(client) => client.apply(Note, note('a', 1), wrong({ feildManager: 'a' })), 'apply needs options with fieldManager'],
  [(client) => client.apply(Note, note('a', 1), wrong({ fieldManager: 'a', forced: true })), 'did you mean "force"?'],
  [(client) => client.patch(Note, 'a', wrong(undefined)), 'patch needs options { type, patch }'],
  [(client) => client.patch(Note, 'a', wrong({ spec: {} })), 'type is "merge", "strategic" or "json", not undefined'],
  [(client) => client.patch(Note, 'a', wrong({ type: 'apply', patch: {} })), 'not "apply"; use apply()'],
  [(client) => client.patch(Note, 'a', wrong({ type: 'toString', patch: {} })), 'not "toString"'],
  [(client) => client.patch(Note, 'a', wrong({ type: 'merge', patch: '{}' })), 'patch: patch is an object, not "{}"'],
  [(client) => client.patch(Note, 'a', wrong({ type: 'merge' })), 'a merge patch is an object, not undefined'],
  [(client) => client.patch(Note, 'a', wrong({ type: 'json', patch: {} })), 'a json patch is a list of operations, not {}'],
  [(client) => client.create(wrong('Note'), note('a', 1)), 'a resource is a handle such as ConfigMap of @krmkit/kinds/core/v1'],
  [(client) => client.get(wrong(undefined), 'a'), 'or comes from resourceType(), not undefined'],
  [(client) => client.get(wrong({ apiVersion: 'v1', kind: 'Note' }), 'a'), 'not { apiVersion, kind }'],
  [(client) => client.get(wrong({ group: '', version: 'v1', kind: 'Note' }), 'a'), 'not { group, version, kind }'],
  [(client) => client.request(wrong(undefined)), 'request needs an object such as { path: "/version" }, not undefined'],
  [(client) => client.request(wrong('/version')), 'not "/version"'],
  [(client) => client.request({ path: 'version' }), 'path is a string that begins with "/", not "version"'],
  [(client) => client.request(wrong({ path: '/version', methode: 'POST' })), 'request has no "methode"; did you mean "method"?'],
]

describe('wrong arguments of calls', () => {
  const remote = () => {
    const seen: string[] = []
    const fetch = async (url: unknown) => {
      seen.push(String(url))
      return new Response('{}')
    }
    return { seen, client: createClient(createFetchTransport({ server: 'https://localhost', fetch: wrong(fetch) })) }
  }
  const inProcess = () => {
    const { handle, seen } = fakeApi(json(note('a', 1)))
    return { seen, client: createInProcessClient(handle) }
  }

  it.each([
    ['in-process', inProcess],
    ['remote', remote],
  ])('send no request to the %s server', async (_, start) => {
    const { client, seen } = start()
    for (const [call, message] of calls)
      await expect(
        Promise.resolve().then(() => call(client)),
        message,
      ).rejects.toEqual(invalid(message))
    expect(seen).toEqual([])
  })

  it('do not include options of other methods, so that calls can share option objects', async () => {
    const { client, seen } = inProcess()
    await client.get(Note, 'a', wrong({ namespace: 'shop', fieldManager: 'app', dryRun: undefined }))
    expect(seen).toMatchObject([{ path: '/apis/example.com/v1/namespaces/shop/notes/a', query: '' }])
  })
})

describe('wrong arguments of constructors', () => {
  const { handle } = fakeApi()
  const transport = createInProcessTransport(handle)
  const user = (value: unknown) => () => createInProcessClient(handle, { user: wrong(value) })
  it.each<readonly [call: () => unknown, message: string]>([
    [
      () => createClient(wrong(undefined)),
      'a client needs a transport, such as createRemoteTransport({ server }), not undefined',
    ],
    [() => createClient(wrong({})), 'a client needs a transport'],
    [() => createClient(wrong('https://localhost')), 'not "https://localhost"'],
    [() => createClient(wrong({ server: 'https://localhost', token: 'secret' })), 'not { server, token }'],
    [() => createClient(transport, wrong('shop')), 'createClient needs an object such as { namespace: "default" }, not "shop"'],
    [() => createClient(transport, wrong({ namespaces: 'shop' })), 'did you mean "namespace"?'],
    [() => createClient(transport, { impersonate: wrong('bob') }), 'createClient: impersonate is an object, not "bob"'],
    [
      () => createClient(transport, { impersonate: wrong({ username: 'bob' }) }),
      'impersonate has no "username"; known: user, groups',
    ],
    [() => createClient(transport, { impersonate: wrong({}) }), 'impersonate needs a user'],
    [() => createRemoteClient(wrong(undefined)), 'createRemoteClient needs an object such as { server: "https://host:6443" }'],
    [() => createRemoteClient(wrong('https://localhost')), 'not "https://localhost"'],
    [() => createRemoteClient(wrong({})), 'server: undefined is not an HTTP or HTTPS URL'],
    [
      () => createRemoteClient(wrong({ server: 'https://a', insecureSkipTlsVerfy: true })),
      'did you mean "insecureSkipTlsVerify"?',
    ],
    [() => createRemoteTransport(wrong({ server: 'https://a', token: 5 })), 'token is a string or a function, not 5'],
    [() => createFetchTransport(wrong(undefined)), 'createFetchTransport needs an object such as'],
    [() => createFetchTransport(wrong({ server: 'https://a', tokn: 'x' })), 'did you mean "token"?'],
    [() => createInProcessClient(wrong(undefined)), 'createInProcessClient needs a server or its handle'],
    [() => createInProcessTransport(wrong({ handle })), 'createInProcessTransport needs the handle of a server'],
    [
      () => createInProcessClient(handle, wrong('alice')),
      'createInProcessClient needs an object such as { user: { username, groups } }',
    ],
    [user('alice'), 'user is an object, not "alice"'],
    [user({ name: 'alice' }), 'user has no "name"; known: username, groups'],
    [user({ username: 'alice', groups: 'dev' }), 'user: groups is a list of strings, not "dev"'],
    [user({ groups: [] }), 'user needs a username'],
    [() => createInformer(wrong(undefined), Note), 'createInformer needs a client, not undefined'],
    [() => createInformer(createClient(transport), wrong(undefined)), 'a resource is a handle'],
    [
      () => createInformer(createClient(transport), Note, wrong({ namspace: 'a' })),
      'createInformer has no "namspace"; did you mean',
    ],
    [() => typeOf(wrong(null)), 'a resource is a handle'],
  ])('are errors with a hint: %#', (call, message) => {
    expect(call).toThrow(invalid(message))
  })

  it('of loadKubeconfig do not fall back to the default file', async () => {
    await expect(loadKubeconfig(wrong('/path'))).rejects.toEqual(
      invalid('loadKubeconfig needs an object such as { path }, not "/path"'),
    )
    await expect(loadKubeconfig(wrong({ file: '/path' }))).rejects.toEqual(invalid('loadKubeconfig has no "file"; known: path'))
  })

  it('do not include a user without groups', async () => {
    const { handle, seen } = fakeApi(json(note('a', 1)))
    await createInProcessClient(handle, { user: wrong({ username: 'alice' }) }).get(Note, 'a')
    expect(seen).toMatchObject([{ user: { username: 'alice', groups: [] } }])
  })
})
