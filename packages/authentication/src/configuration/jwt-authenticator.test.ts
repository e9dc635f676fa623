import { fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createReplaceableTokenAuthenticator } from '../chain.ts'
import type { AuthenticationOutcome } from '../interfaces.ts'
import { createFakeOidcProvider } from '../testing/fake-oidc-provider.ts'
import type { JwtConfiguration } from './interfaces.ts'
import { createJwtAuthenticator } from './jwt-authenticator.ts'
import { parseAuthenticationConfiguration } from './parse.ts'

const head = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration' }
const none = { problem: 'no expressions here' }
const expressions = { claims: () => none, user: () => none }
const start = Date.UTC(2026, 0, 1)

function setup(issuer: object = {}, algorithm: 'RS256' | 'ES256' = 'ES256') {
  const clock = fakeClock(start)
  const provider = createFakeOidcProvider({ clock, algorithm })
  const jwt = {
    issuer: { url: provider.issuerUrl, audiences: [provider.clientId, 'second'], audienceMatchPolicy: 'MatchAny', ...issuer },
    claimMappings: { username: { claim: 'sub', prefix: '' }, groups: { claim: 'groups', prefix: '' } },
  }
  const parsed = parseAuthenticationConfiguration({ ...head, jwt: [jwt] }).jwt[0] as JwtConfiguration
  return { provider, clock, jwt: parsed }
}
const user = (outcome: AuthenticationOutcome) => (outcome.kind === 'authenticated' ? outcome.user : outcome)

describe('createJwtAuthenticator', () => {
  it('accepts every algorithm with a key, and any of the audiences', async () => {
    for (const algorithm of ['ES256', 'RS256'] as const) {
      const { provider, clock, jwt } = setup({}, algorithm)
      const tokens = createJwtAuthenticator(jwt, { fetch: provider.fetch, clock, expressions })
      for (const aud of [provider.clientId, ['x', 'second']])
        expect(user(await tokens.authenticateToken(provider.token({ claims: { aud } })))).toEqual({
          username: 'alice',
          groups: [],
        })
      expect(await tokens.authenticateToken(provider.token({ claims: { aud: 'third' } }))).toMatchObject({ kind: 'rejected' })
      expect(await tokens.authenticateToken(provider.token({ claims: { iss: 'https://other.test' } }))).toEqual({
        kind: 'noOpinion',
      })
    }
  })

  it('discovers the issuer at discoveryURL; the document must name the issuer', async () => {
    const { provider, clock, jwt } = setup({ discoveryURL: 'https://inside.test/discovery' })
    const fetched: string[] = []
    const fetch: typeof provider.fetch = (url, init) => {
      fetched.push(url)
      const known = url === 'https://inside.test/discovery' ? `${provider.issuerUrl}/.well-known/openid-configuration` : url
      return provider.fetch(known, init)
    }
    const tokens = createJwtAuthenticator(jwt, { fetch, clock, expressions })
    expect(user(await tokens.authenticateToken(provider.token()))).toMatchObject({ username: 'alice' })
    expect(fetched[0]).toBe('https://inside.test/discovery')
  })
})

describe('distributed claims', () => {
  const endpoint = 'https://graph.test/groups'
  const sources = (more: object = {}) => ({
    _claim_names: { groups: 'src1' },
    _claim_sources: { src1: { endpoint, access_token: 'source-secret', ...more } },
  })
  function distributed(answer: (provider: ReturnType<typeof createFakeOidcProvider>) => string | number) {
    const { provider, clock, jwt } = setup()
    const other = createFakeOidcProvider({ clock, issuerUrl: 'https://graph.test', algorithm: 'ES256' })
    const fetched: (string | undefined)[] = []
    const errors: unknown[] = []
    const fetch: typeof provider.fetch = async (url, init) => {
      if (url === endpoint) {
        fetched.push(init.headers.authorization)
        const text = answer(other)
        const body = (async function* () {
          yield Buffer.from(String(text))
        })()
        return { status: typeof text === 'number' ? text : 200, headers: { get: () => null }, body }
      }
      return (url.startsWith('https://graph.test') ? other : provider).fetch(url, init)
    }
    const tokens = createJwtAuthenticator(jwt, { fetch, clock, expressions, onError: (error) => errors.push(error) })
    const judge = async (claims: object) => user(await tokens.authenticateToken(provider.token({ claims: { ...claims } })))
    return { judge, fetched, errors }
  }

  it('resolves a claim from its source, signed by the issuer of the source', async () => {
    const { judge, fetched } = distributed((other) => other.token({ claims: { groups: ['a', 'b'] } }))
    expect(await judge(sources())).toEqual({ username: 'alice', groups: ['a', 'b'] })
    expect(fetched).toEqual(['Bearer source-secret'])
    expect(await judge(sources({ access_token: undefined }))).toMatchObject({ groups: ['a', 'b'] })
    expect(fetched[1]).toBeUndefined()
  })

  it('keeps claims of the token, and claims without a source', async () => {
    const { judge, fetched } = distributed(() => '')
    expect(await judge({ ...sources(), groups: ['own'] })).toMatchObject({ groups: ['own'] })
    for (const claims of [{}, { _claim_names: {} }, { _claim_names: { other: 'src1' } }, sources({ endpoint: undefined })])
      expect(await judge(claims)).toMatchObject({ groups: [] })
    expect(fetched).toEqual([])
  })

  it.each<[string, object, (other: ReturnType<typeof createFakeOidcProvider>) => string | number]>([
    ['no sources', { _claim_names: { groups: 'src1' } }, () => ''],
    ['another source', { _claim_names: { groups: 'src2' }, _claim_sources: sources()._claim_sources }, () => ''],
    ['a name on the object prototype', { _claim_names: { groups: '__proto__' }, _claim_sources: {} }, () => ''],
    ['claim names that are not an object', { _claim_names: 'groups' }, () => ''],
    ['an http source', sources({ endpoint: 'http://graph.test/groups' }), () => ''],
    ['a failing source', sources(), () => 503],
    ['a response that is not a token', sources(), () => 'nonsense'],
    ['a token without the claim', sources(), (other) => other.token()],
    ['a token that has expired', sources(), (other) => other.token({ claims: { groups: ['a'], exp: 1 } })],
    ['a token for another audience', sources(), (other) => other.token({ claims: { groups: ['a'], aud: 'x' } })],
    ['a token of an unknown issuer', sources(), (other) => other.token({ claims: { groups: ['a'], iss: 'https://x.test' } })],
    ['an invalid signature', sources(), (other) => `${other.token({ claims: { groups: ['a'] } }).replace(/[^.]*$/, '')}AAAA`],
    [
      'a token with a secret',
      sources(),
      (other) => other.token({ claims: { groups: ['a'] }, header: { alg: 'HS256' }, signer: 's' }),
    ],
  ])('rejects %s without leaking secrets', async (_, claims, answer) => {
    const { judge, errors } = distributed(answer)
    const outcome = await judge(claims)
    expect(outcome).toMatchObject({ kind: 'rejected', reason: expect.stringContaining('distributed claims') })
    expect(JSON.stringify(outcome) + String(errors)).not.toContain('source-secret')
  })
})

describe('createReplaceableTokenAuthenticator', () => {
  it('uses the current authenticator', () => {
    const says = (reason: string) => ({ authenticateToken: () => ({ kind: 'rejected' as const, reason }) })
    const tokens = createReplaceableTokenAuthenticator(says('one'))
    expect(tokens.authenticateToken('x')).toMatchObject({ reason: 'one' })
    tokens.replace(says('two'))
    expect(tokens.authenticateToken('x')).toMatchObject({ reason: 'two' })
  })
})
