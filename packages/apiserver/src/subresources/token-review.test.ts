import {
  anonymousAuthenticator,
  createAuthenticatorChain,
  createBearerTokenAuthenticator,
  withServerAudiences,
} from '@krmkit/authentication'
import { createCatalog } from '@krmkit/kinds'
import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

const path = '/apis/authentication.k8s.io/v1/tokenreviews'
const alice = { username: 'alice', uid: '7', groups: ['dev'], extra: { scopes: ['view'] } }
const tokens = withServerAudiences(
  { authenticateToken: (token) => (token === 'good' ? { kind: 'authenticated', user: alice } : { kind: 'noOpinion' }) },
  ['api', 'other'],
)
const authenticator = createAuthenticatorChain([createBearerTokenAuthenticator(tokens), anonymousAuthenticator], {
  onRejection: 'stop',
})

async function reviewer(options: Parameters<typeof sampleServer>[0] = { authenticator }, version = 'v1') {
  const { ask } = await sampleServer(options)
  return async (spec: object) => {
    const body = { apiVersion: `authentication.k8s.io/${version}`, kind: 'TokenReview', spec }
    return ask(path.replace('/v1/', `/${version}/`), { method: 'POST', body })
  }
}

describe('TokenReview', () => {
  it('returns the user and the audiences of a token [P38] [P39]', async () => {
    const review = await reviewer()
    expect((await review({ token: 'good' })).json.status).toEqual({
      authenticated: true,
      user: alice,
      audiences: ['api', 'other'],
    })
    expect((await review({ token: 'good', audiences: ['x', 'other'] })).json.status).toMatchObject({ audiences: ['other'] })
    for (const spec of [{ token: 'bad' }, { token: 'good', audiences: ['x'] }, { token: 'Bearer good' }])
      expect((await review(spec)).json.status).toEqual({ user: {}, error: expect.any(String) })
  })

  it('also in v1beta1 where served [P38] [P39]', async () => {
    const group = 'authentication.k8s.io'
    const { definitions, kind, resource } = createCatalog()
    const now = resource({ group, version: 'v1', resource: 'tokenreviews' })!
    const former = { ...now, version: 'v1beta1', kind: kind({ group, version: 'v1beta1', kind: 'TokenReview' })! }
    const review = await reviewer({ authenticator, kinds: [...definitions, former] }, 'v1beta1')
    const { status, json } = await review({ token: 'good', audiences: ['api'] })
    expect([status, json.apiVersion]).toEqual([201, `${group}/v1beta1`])
    expect(json.status).toEqual({ authenticated: true, user: alice, audiences: ['api'] })
    // The newest release does not serve v1beta1.
    expect((await (await reviewer({ authenticator }, 'v1beta1'))({ token: 'good' })).status).toBe(404)
  })

  it('a review without a token is refused', async () => {
    const review = await reviewer()
    for (const spec of [{}, { token: '' }]) expect((await review(spec)).status).toBe(400)
  })

  it('without token authenticators every token is unauthenticated', async () => {
    const review = await reviewer({})
    expect((await review({ token: 'good' })).json.status).toEqual({ user: {}, error: 'invalid bearer token' })
  })
})
