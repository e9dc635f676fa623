import { anonymousAuthenticator, bearerToken, chain, forAudiences } from '@krmkit/authentication'
import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

const path = '/apis/authentication.k8s.io/v1/tokenreviews'
const alice = { username: 'alice', uid: '7', groups: ['dev'], extra: { scopes: ['view'] } }
const tokens = forAudiences(
  { authenticateToken: (token) => (token === 'good' ? { kind: 'authenticated', user: alice } : { kind: 'noOpinion' }) },
  ['api', 'other'],
)
const authenticator = chain([bearerToken(tokens), anonymousAuthenticator], { onRejection: 'stop' })

async function reviewer(options: Parameters<typeof sampleServer>[0] = { authenticator }) {
  const { ask } = await sampleServer(options)
  return async (spec: object) => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }
    return ask(path, { method: 'POST', body })
  }
}

describe('TokenReview', () => {
  it('P38 P39 tells whose a token is, and for which of the audiences', async () => {
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

  it('a review without a token is refused', async () => {
    const review = await reviewer()
    for (const spec of [{}, { token: '' }]) expect((await review(spec)).status).toBe(400)
  })

  it('where nobody looks at tokens every token is unknown', async () => {
    const review = await reviewer({})
    expect((await review({ token: 'good' })).json.status).toEqual({ user: {}, error: 'invalid bearer token' })
  })
})
