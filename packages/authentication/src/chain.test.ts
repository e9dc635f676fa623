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

describe('createAuthenticatorChain', () => {
  it('returns the first authenticated outcome, synchronously when all members are synchronous', () => {
    expect(createAuthenticatorChain([now(none), now(as('a')), now(as('b'))]).authenticate(request)).toEqual(as('a'))
    expect(createAuthenticatorChain([]).authenticate(request)).toEqual(none)
  })

  it('awaits asynchronous members', async () => {
    expect(await createAuthenticatorChain([later(none), now(none), later(as('a')), now(as('b'))]).authenticate(request)).toEqual(
      as('a'),
    )
    expect(await createAuthenticatorChain([later(none), now(none)]).authenticate(request)).toEqual(none)
  })

  it('continues after a rejection, and rejects when no later member authenticates', async () => {
    expect(createAuthenticatorChain([now(bad('x')), now(as('a'))]).authenticate(request)).toEqual(as('a'))
    expect(createAuthenticatorChain([now(bad('x')), now(none)]).authenticate(request)).toEqual(bad('x'))
    expect(await createAuthenticatorChain([later(bad('x')), now(none), later(bad('y'))]).authenticate(request)).toEqual(
      bad('[x, y]'),
    )
  })

  it('uses the first message for the client [P311]', async () => {
    const rejectedWith = (message: string): AuthenticationOutcome => ({ kind: 'rejected', reason: `reason ${message}`, message })
    const rejections = [bad('x'), rejectedWith('a'), rejectedWith('b')]
    const expected = { kind: 'rejected', reason: '[x, reason a, reason b]', message: 'a' }
    expect(createAuthenticatorChain(rejections.map(now)).authenticate(request)).toEqual(expected)
    expect(await createAuthenticatorChain(rejections.map(later)).authenticate(request)).toEqual(expected)
  })

  it('never lets an invalid credential fall through to anonymous access [P246]', async () => {
    const stop = { onRejection: 'stop' } as const
    expect(createAuthenticatorChain([now(bad('x')), anonymousAuthenticator], stop).authenticate(request)).toEqual(bad('x'))
    expect(await createAuthenticatorChain([later(bad('x')), anonymousAuthenticator], stop).authenticate(request)).toEqual(
      bad('x'),
    )
  })

  it('authenticates requests without credentials as anonymous [P245] [P247]', () => {
    expect(createAuthenticatorChain([now(none), anonymousAuthenticator], { onRejection: 'stop' }).authenticate(request)).toEqual(
      as('system:anonymous', ['system:unauthenticated']),
    )
  })

  it('chains token authenticators', async () => {
    const members = [{ authenticateToken: () => none }, { authenticateToken: async (token: string) => as(token) }]
    expect(await createTokenAuthenticatorChain(members).authenticateToken('t', { audiences: ['x'] })).toEqual(as('t'))
  })
})

describe('withAuthenticatedGroup', () => {
  it('adds the group once, and not to anonymous users', async () => {
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

describe('createBearerTokenAuthenticator', () => {
  it('rejects an unknown token, and has no opinion without one [P246]', async () => {
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
