import { describe, expect, it } from 'vitest'
import { anonymousAuthenticator } from './anonymous.ts'
import { createBearerTokenAuthenticator } from './bearer-token.ts'
import { createAuthenticatorChain, createTokenAuthenticatorChain, withAuthenticatedGroup } from './chain.ts'
import type { AuthenticationOutcome, AuthenticationRequest, Authenticator } from './interfaces.ts'

const request: AuthenticationRequest = { headers: {}, peer: {} }
const as = (username: string, groups: string[] = []): AuthenticationOutcome => ({
  kind: 'authenticated',
  user: { username, groups },
})
const none: AuthenticationOutcome = { kind: 'noOpinion' }
const bad = (reason: string): AuthenticationOutcome => ({ kind: 'rejected', reason })
const now = (outcome: AuthenticationOutcome): Authenticator => ({ authenticate: () => outcome })
const later = (outcome: AuthenticationOutcome): Authenticator => ({ authenticate: async () => outcome })

describe('chain', () => {
  it('answers with the first that knows the caller, at once when all answer at once', () => {
    expect(createAuthenticatorChain([now(none), now(as('a')), now(as('b'))]).authenticate(request)).toEqual(as('a'))
    expect(createAuthenticatorChain([]).authenticate(request)).toEqual(none)
  })

  it('waits for those who answer later', async () => {
    expect(await createAuthenticatorChain([later(none), now(none), later(as('a')), now(as('b'))]).authenticate(request)).toEqual(
      as('a'),
    )
    expect(await createAuthenticatorChain([later(none), now(none)]).authenticate(request)).toEqual(none)
  })

  it('remembers rejections while others may still know the caller', async () => {
    expect(createAuthenticatorChain([now(bad('x')), now(as('a'))]).authenticate(request)).toEqual(as('a'))
    expect(createAuthenticatorChain([now(bad('x')), now(none)]).authenticate(request)).toEqual(bad('x'))
    expect(await createAuthenticatorChain([later(bad('x')), now(none), later(bad('y'))]).authenticate(request)).toEqual(
      bad('[x, y]'),
    )
  })

  it('P246 lets no bad credential fall through to anonymous access', async () => {
    const stop = { onRejection: 'stop' } as const
    expect(createAuthenticatorChain([now(bad('x')), anonymousAuthenticator], stop).authenticate(request)).toEqual(bad('x'))
    expect(await createAuthenticatorChain([later(bad('x')), anonymousAuthenticator], stop).authenticate(request)).toEqual(
      bad('x'),
    )
  })

  it('P245 P247 makes a caller without credentials anonymous', () => {
    expect(createAuthenticatorChain([now(none), anonymousAuthenticator], { onRejection: 'stop' }).authenticate(request)).toEqual(
      as('system:anonymous', ['system:unauthenticated']),
    )
  })

  it('chains token authenticators alike', async () => {
    const members = [{ authenticateToken: () => none }, { authenticateToken: async (token: string) => as(token) }]
    expect(await createTokenAuthenticatorChain(members).authenticateToken('t', { audiences: ['x'] })).toEqual(as('t'))
  })
})

describe('withAuthenticatedGroup', () => {
  it('adds the group once and to people only', async () => {
    expect(withAuthenticatedGroup(now(as('a', ['dev']))).authenticate(request)).toEqual(as('a', ['dev', 'system:authenticated']))
    expect(await withAuthenticatedGroup(later(as('a'))).authenticate(request)).toEqual(as('a', ['system:authenticated']))
    const has = as('a', ['system:authenticated'])
    expect(withAuthenticatedGroup(now(has)).authenticate(request)).toBe(has)
    expect(withAuthenticatedGroup(anonymousAuthenticator).authenticate(request)).toEqual(
      as('system:anonymous', ['system:unauthenticated']),
    )
    expect(withAuthenticatedGroup(now(bad('x'))).authenticate(request)).toEqual(bad('x'))
  })
})

describe('bearerToken', () => {
  it('P246 rejects a token that nobody knows and passes on a request without one', async () => {
    const head = (authorization: string) => ({ ...request, headers: { authorization } })
    const at = createBearerTokenAuthenticator({ authenticateToken: (token) => (token === 'good' ? as('a') : none) })
    expect(at.authenticate(head('Bearer good'))).toEqual(as('a'))
    expect(at.authenticate(head('Bearer bad'))).toEqual(bad('invalid bearer token'))
    expect(at.authenticate(request)).toEqual(none)
    expect(at.authenticate({ ...request, headers: { authorization: ['Bearer good', 'Bearer good'] } })).toMatchObject({
      kind: 'rejected',
    })
    for (const other of ['', 'Bearer', 'Bearer  good', 'Basic good']) expect(at.authenticate(head(other)), other).toEqual(none)
    const slow = createBearerTokenAuthenticator({ authenticateToken: async () => none })
    expect(await slow.authenticate(head('Bearer bad'))).toEqual(bad('invalid bearer token'))
  })
})
