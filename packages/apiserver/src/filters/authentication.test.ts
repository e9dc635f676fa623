import type { AuthenticationOutcome } from '@krmkit/authentication'
import { createIdentityHeaderRules } from '@krmkit/authentication/headers'
import { ApiError } from '@krmkit/meta'
import type { ApiRequest } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { compose, IncomingRequest, type RequestContext } from '../request/context.ts'
import { authentication } from './authentication.ts'

const alice = { username: 'alice', groups: ['dev'] }
const answer = { status: 200, headers: {}, body: { kind: 'empty' } } as const
const judged = createIdentityHeaderRules({ usernameHeaders: ['X-Who'] })

async function run(
  outcome: AuthenticationOutcome | Error,
  { headers = {}, user }: { headers?: ApiRequest['headers']; user?: ApiRequest['user'] } = {},
) {
  const faults: unknown[] = []
  const request: ApiRequest = {
    method: 'GET',
    path: '/api',
    query: 'a=b',
    headers,
    body: async () => Uint8Array.of(1),
    peer: { address: '127.0.0.1' },
    signal: new AbortController().signal,
    ...(user === undefined ? {} : { user }),
  }
  const state: RequestContext = new IncomingRequest(request, {
    info: {} as never,
    query: {} as never,
    startedAt: 0,
    auditId: 'a',
  })
  const authenticate = () => {
    if (outcome instanceof Error) throw outcome
    return outcome
  }
  const filter = authentication({ authenticate }, { identityHeaders: judged, onError: (error) => faults.push(error) })
  const response = await compose([filter], async () => answer)(state).catch((error: unknown) => error)
  return { state, request, response, faults }
}
const known = (more: object = {}): AuthenticationOutcome => ({ kind: 'authenticated', user: alice, ...more })

describe('authentication filter', () => {
  it('rejects invalid credentials and missing authentication without a reason [P310]', async () => {
    for (const outcome of [{ kind: 'noOpinion' }, { kind: 'rejected', reason: 'secret reason' }] as const) {
      const { response } = await run(outcome)
      expect(ApiError.is(response) && response.status).toMatchObject({
        code: 401,
        reason: 'Unauthorized',
        message: 'Unauthorized',
      })
    }
  })

  it('shows the client a message that is meant for it [P311]', async () => {
    const { response } = await run({ kind: 'rejected', reason: '[secret reason, revoked]', message: 'revoked' })
    expect(ApiError.is(response) && response.status).toMatchObject({ code: 401, reason: 'Unauthorized', message: 'revoked' })
  })

  it('rejects the request when an authenticator fails, and reports the error to the operator only', async () => {
    const { response, faults } = await run(new Error('cannot reach internal-host'))
    expect(ApiError.is(response) && response.status.message).toBe('Unauthorized')
    expect(faults.map(String)).toEqual(['Error: cannot reach internal-host'])
  })

  it('returns 429 when too many requests wait for an external service', async () => {
    const { response, faults } = await run(ApiError.tooManyRequests('too many callers', 1))
    expect(ApiError.is(response) && response.status).toMatchObject({ code: 429, details: { retryAfterSeconds: 1 } })
    expect(faults).toEqual([])
  })

  it('adds warnings and audit annotations of the authenticator', async () => {
    const { state } = await run(known({ warnings: ['old'], annotations: { a: 'b' } }))
    expect([state.user, state.warnings, state.annotations]).toEqual([alice, ['old'], { a: 'b' }])
  })

  it.each([undefined, alice])('removes the headers of front proxies, in-process user %j [P243]', async (user) => {
    const headers = { 'x-remote-user': 'admin', 'x-remote-extra-a': 'b', 'x-who': 'admin', accept: 'x' }
    const { state, request } = await run(known(), { headers, user })
    expect({ ...state.request.headers }).toEqual({ accept: 'x' })
    const { method, path, query, peer, signal } = state.request
    expect({ method, path, query, peer, signal }).toEqual({
      method: 'GET',
      path: '/api',
      query: 'a=b',
      peer: request.peer,
      signal: request.signal,
    })
    expect(await state.request.body(10)).toEqual(Uint8Array.of(1))
  })

  it.each<[number, ApiRequest['headers']]>([
    [401, { authorization: ['Bearer a', 'Bearer b'] }],
    [400, { 'impersonate-user': ['a', 'b'] }],
    [400, { 'x-who': ['a', 'b'] }],
    [400, { 'impersonate-user': 'a\ufffd' }],
    [400, { 'Impersonate-User': 'a' }],
  ])('rejects malformed identity headers with %i, also for in-process users: %j', async (code, headers) => {
    for (const user of [alice, undefined]) {
      const { response } = await run(known(), { headers, user })
      expect(ApiError.is(response) && response.code).toBe(code)
    }
  })

  it('keeps a request without such headers unchanged', async () => {
    const { state, request } = await run(known(), { headers: { accept: 'x' } })
    expect(state.request).toBe(request)
  })

  it('trusts the user of in-process requests', async () => {
    const { state } = await run({ kind: 'noOpinion' }, { user: alice })
    expect(state.user).toBe(alice)
  })
})
