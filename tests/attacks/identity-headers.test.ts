import { connect, type TLSSocket } from 'node:tls'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import {
  anonymousAuthenticator,
  createAuthenticatorChain,
  createBearerTokenAuthenticator,
  createFrontProxyAuthenticator,
  createStaticTokenAuthenticator,
  defaultFrontProxyHeaders,
  withAuthenticatedGroup,
} from '@krmkit/authentication'
import { createCertificateAuthority, createFakeFrontProxy, type FakeFrontProxy } from '@krmkit/authentication/testing'
import { createFetchHandler, type Listener, listen } from '@krmkit/http'
import { encodeFields, encodeFrame, flags, frameTypes, RawHttp2 } from '@krmkit/http/testing'
import { builtInTypes } from '@krmkit/kinds'
import { seededRandom, systemClock } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'

/**
 * Whatever headers a request carries over any protocol, it runs as the user that kube-apiserver would determine, or it is
 * rejected. The rules of kube-apiserver are restated here in their simplest form.
 */

type Field = readonly [name: string, value: string]

interface Identity {
  readonly username: string
  readonly groups: readonly string[]
  readonly uid?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The outcome of a request: the user, or the status of the rejection; 0 for a closed connection or stream. */
type Outcome = { readonly identity: Identity } | { readonly refused: number }

const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
const admin: Identity = { username: 'admin', groups: ['system:masters'] }
const tokens = new Map<string, Identity>([
  ['admin-token', admin],
  ['dev-token', { username: 'dev', groups: ['team'] }],
])

let server: EmbeddedServer
let listening: Listener
let front: FakeFrontProxy
beforeAll(async () => {
  const environment = { clock: systemClock, random: seededRandom(3) }
  front = createFakeFrontProxy(environment)
  const people = createAuthenticatorChain([
    createFrontProxyAuthenticator({ ...defaultFrontProxyHeaders, authorities: front.authority.certificate, clock: systemClock }),
    createBearerTokenAuthenticator(
      createStaticTokenAuthenticator(
        [...tokens].map(([token, user]) => ({ token, user })),
        environment,
      ),
    ),
  ])
  server = await createApiServer({
    types: builtInTypes(),
    storage: memoryStorage(),
    authenticator: createAuthenticatorChain([withAuthenticatedGroup(people), anonymousAuthenticator], { onRejection: 'stop' }),
  })
  const serving = createCertificateAuthority({ name: 'serving', ...environment }).issue({ usage: 'server', hosts: ['127.0.0.1'] })
  listening = await listen(server, {
    tls: { certificate: serving.certificate, key: serving.key, clientCa: front.authority.certificate },
  })
})
afterAll(async () => {
  await listening.close({ graceMs: 0 })
  await server.close()
})

/** The bytes of the header list as text, one character per byte. */
const values = [
  ...[
    '',
    ' ',
    'alice',
    'alice ',
    ' alice',
    '\talice',
    'a, b',
    'a,b',
    'gr\xc3\xbcn',
    'a\tb',
    'system:masters',
    'system:anonymous',
  ],
  ...['a\xff', '\xc3', 'a\0', 'a\x01b', '\x7f', 'a\nb', 'a\rb', '\xef\xbf\xbd'],
]
const credentials = [
  ...['Bearer admin-token', 'bearer dev-token', 'Bearer wrong', 'Bearer', 'Bearer  admin-token', 'Bearer admin-token more'],
  ...['Basic dTpw', '', ' Bearer admin-token', 'Bearer admin-token\0'],
]
const field: fc.Arbitrary<Field> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fc.constant('authorization'), fc.constantFrom(...credentials)) },
  fc.tuple(
    fc.constantFrom(
      'impersonate-user',
      'impersonate-uid',
      'impersonate-group',
      'x-remote-user',
      'x-remote-uid',
      'x-remote-group',
    ),
    fc.constantFrom(...values),
  ),
  fc.tuple(
    fc.constantFrom(
      'impersonate-extra-a',
      'impersonate-extra-a%2fb',
      'impersonate-extra-%zz',
      'impersonate-extra-%ff',
      'x-remote-extra-a',
    ),
    fc.constantFrom(...values),
  ),
  { weight: 2, arbitrary: fc.constantFrom<Field>(['authorization', 'Bearer admin-token'], ['impersonate-user', 'alice']) },
)
const lists = fc.record({ fields: fc.array(field, { maxLength: 6 }), proxied: fc.boolean() })

/** The user that kube-apiserver determines; undefined when it rejects the request. */
function stockIdentity(fields: readonly Field[], proxied: boolean): Identity | undefined {
  if (fields.some(([, value]) => [...value].some((char) => (char < ' ' && char !== '\t') || char === '\x7f'))) return undefined
  const all = (name: string) => fields.filter(([other]) => other === name).map(([, value]) => utf8(value))
  const first = (name: string) => all(name)[0] ?? ''
  const caller = (proxied ? proxyUser(all) : undefined) ?? tokenUser(first('authorization'))
  if (caller === undefined) return undefined
  const extra = extraOf(fields, 'impersonate-extra-')
  const [username, uid, groups] = [first('impersonate-user'), first('impersonate-uid'), all('impersonate-group')]
  if (username === '') return groups.length > 0 || uid !== '' || extra !== undefined ? undefined : caller
  return { username, groups: withVirtualGroup(username, groups), ...(uid === '' ? {} : { uid }), ...(extra && { extra }) }
}

function proxyUser(all: (name: string) => string[]): Identity | undefined {
  const [username = ''] = all('x-remote-user')
  if (username === '') return undefined
  const [uid = ''] = all('x-remote-uid')
  const extra = all('x-remote-extra-a')
  const groups = all('x-remote-group')
  const known = username === 'system:anonymous' ? groups : [...groups, 'system:authenticated']
  return { username, groups: known, ...(uid === '' ? {} : { uid }), ...(extra.length === 0 ? {} : { extra: { a: extra } }) }
}

function tokenUser(header: string): Identity | undefined {
  const [scheme = '', token = ''] = header.trim().split(' ')
  if (scheme.toLowerCase() !== 'bearer' || token === '')
    return { username: 'system:anonymous', groups: ['system:unauthenticated'] }
  const user = tokens.get(token)
  return user && { ...user, groups: [...user.groups, 'system:authenticated'] }
}

function extraOf(fields: readonly Field[], prefix: string): Identity['extra'] {
  const own = fields.filter(([name]) => name.startsWith(prefix))
  if (own.length === 0) return undefined
  const extra: Record<string, string[]> = {}
  for (const [name, value] of own) {
    const key = name.slice(prefix.length).replace('%2f', '/').replace('%ff', '\ufffd')
    extra[key] = [...(extra[key] ?? []), utf8(value)]
  }
  return extra
}

function withVirtualGroup(username: string, groups: readonly string[]): readonly string[] {
  return [...groups, username === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated']
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

function outcomeOf(status: number, text: string): Outcome {
  return status === 201
    ? { identity: (JSON.parse(text) as { status: { userInfo: Identity } }).status.userInfo }
    : { refused: status }
}

interface Sending {
  readonly fields: readonly Field[]
  readonly proxied: boolean
}

function overHttp1({ fields, proxied }: Sending): Promise<Outcome> {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]
  const head = [...lines, ...fields.map(([name, value]) => `${name}: ${value}`), '', body].join('\r\n')
  const shown = proxied ? { cert: front.proxy.certificate, key: front.proxy.key } : {}
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({ host: '127.0.0.1', port: listening.port, rejectUnauthorized: false, ...shown }, () =>
      socket.write(head, 'latin1'),
    )
    const parts: Buffer[] = []
    socket.on('data', (part) => parts.push(part)).on('error', () => undefined)
    socket.on('close', () => {
      const [answer = '', text = ''] = Buffer.concat(parts).toString().split('\r\n\r\n')
      resolve(outcomeOf(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0), text))
    })
  })
}

const http2Clients = new Map<boolean, { client: RawHttp2; stream: number }>()
afterAll(() => {
  for (const { client } of http2Clients.values()) client.socket.destroy()
})

async function overHttp2({ fields, proxied }: Sending): Promise<Outcome> {
  let used = http2Clients.get(proxied)
  if (used === undefined || used.client.socket.closed) {
    const shown = proxied ? { cert: front.proxy.certificate, key: front.proxy.key } : {}
    used = { client: new RawHttp2(listening.port, shown), stream: -1 }
    http2Clients.set(proxied, used)
  }
  used.stream += 2
  const { client, stream } = used
  const pseudo: Field[] = [
    [':method', 'POST'],
    [':scheme', 'https'],
    [':path', path],
    [':authority', 'x'],
    ['content-type', 'application/json'],
  ]
  client.send(
    encodeFrame(frameTypes.headers, {
      stream,
      flags: flags.endHeaders,
      payload: encodeFields([...pseudo, ...fields], { indexed: true }),
    }),
    encodeFrame(frameTypes.data, { stream, flags: flags.end, payload: Buffer.from(body) }),
  )
  const { status, body: text } = await client.response(stream)
  return outcomeOf(status, text)
}

async function inProcess({ fields, proxied }: Sending): Promise<Outcome> {
  const headers: Record<string, string[]> = { 'content-type': ['application/json'] }
  for (const [name, value] of fields) headers[name] = [...(headers[name] ?? []), utf8(value)]
  const answer = await server.handle({
    ...{ method: 'POST', path, query: '', headers, signal: new AbortController().signal },
    peer: proxied ? front.proxy.peer : {},
    body: async () => Buffer.from(body),
  })
  const bytes = answer.body.kind === 'bytes' ? answer.body.bytes : new Uint8Array()
  return outcomeOf(answer.status, Buffer.from(bytes).toString())
}

async function overFetch({ fields, proxied }: Sending): Promise<Outcome> {
  const headers = new Headers({ 'content-type': 'application/json' })
  try {
    for (const [name, value] of fields) headers.append(name, value)
  } catch {
    return { refused: 0 }
  }
  const handle = createFetchHandler(server, { peer: () => (proxied ? front.proxy.peer : {}) })
  const answer = await handle(new Request(`http://host${path}`, { method: 'POST', headers, body }))
  return outcomeOf(answer.status, await answer.text())
}

/** Surrounding white space is not part of a value in HTTP/1.1 and fetch. */
const trimmed = ({ fields, proxied }: Sending): Sending => ({
  fields: fields.map(([name, value]) => [name, value.replace(/^[ \t]+|[ \t]+$/g, '')]),
  proxied,
})

it.each([
  ['HTTP/1.1', overHttp1, trimmed],
  ['HTTP/2', overHttp2, (sending: Sending) => sending],
  ['fetch', overFetch, trimmed],
  ['in this process', inProcess, (sending: Sending) => sending],
] as const)(
  'a request runs as the user of the stock rules or is rejected: %s',
  async (_, send, read) => {
    let served = 0
    await fc.assert(
      fc.asyncProperty(lists, async (sending) => {
        const outcome = await send(sending)
        if ('refused' in outcome) {
          expect([0, 400, 401, 403, 431]).toContain(outcome.refused)
          return
        }
        served++
        const { fields, proxied } = read(sending)
        // The JSON of a user without groups has no such member.
        expect({ ...outcome.identity, groups: outcome.identity.groups ?? [] }).toEqual(stockIdentity(fields, proxied))
        expect(JSON.stringify(outcome.identity)).not.toContain('\ufffd')
      }),
      { numRuns: 400 },
    )
    expect(served).toBeGreaterThan(50)
  },
  60_000,
)

it.each([
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
  ['fetch', overFetch],
  ['in this process', inProcess],
] as const)('accepts ordinary headers: %s', async (_, send) => {
  const fields: Field[] = [
    ['authorization', 'Bearer admin-token'],
    ['impersonate-user', 'gr\xc3\xbcn'],
    ['impersonate-group', 'a'],
    ['impersonate-extra-a%2fb', 'v'],
  ]
  expect(await send({ fields, proxied: false })).toEqual({
    identity: { username: 'grün', groups: ['a', 'system:authenticated'], extra: { 'a/b': ['v'] } },
  })
  const proxy: Field[] = [
    ['x-remote-user', 'carl'],
    ['x-remote-group', 'a'],
  ]
  expect(await send({ fields: proxy, proxied: true })).toEqual({
    identity: { username: 'carl', groups: ['a', 'system:authenticated'] },
  })
})

it('keeps names with surrounding white space over HTTP/2', async () => {
  const fields: Field[] = [
    ['authorization', 'Bearer admin-token'],
    ['impersonate-user', 'nobody '],
  ]
  expect(await overHttp2({ fields, proxied: false })).toEqual({
    identity: { username: 'nobody ', groups: ['system:authenticated'] },
  })
})
