import type { AuthenticationOutcome } from '@krmkit/authentication'
import { createIdentityHeaderRules } from '@krmkit/authentication/headers'
import { ApiError } from '@krmkit/meta'
import type { ApiRequest } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { IncomingRequest, type RequestContext } from '../request-context.ts'
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
  const filter = authentication({ authenticate }, { identityHeaders: judged, onFault: (error) => faults.push(error) })
  const response = await filter(state, async () => answer).catch((error: unknown) => error)
  return { state, request, response, faults }
}
const known = (more: object = {}): AuthenticationOutcome => ({ kind: 'authenticated', user: alice, ...more })

describe('authentication filter', () => {
  it('P310 refuses bad credentials and callers that nobody knows, without saying why', async () => {
    for (const outcome of [{ kind: 'noOpinion' }, { kind: 'rejected', reason: 'secret reason' }] as const) {
      const { response } = await run(outcome)
      expect(ApiError.is(response) && response.status).toMatchObject({
        code: 401,
        reason: 'Unauthorized',
        message: 'Unauthorized',
      })
    }
  })

  it('a failure of an authenticator lets nobody in, and is told to those who run the server alone', async () => {
    const { response, faults } = await run(new Error('cannot reach internal-host'))
    expect(ApiError.is(response) && response.status.message).toBe('Unauthorized')
    expect(faults.map(String)).toEqual(['Error: cannot reach internal-host'])
  })

  it('answers 429 when too many callers wait for a service outside', async () => {
    const { response, faults } = await run(ApiError.tooManyRequests('too many callers', 1))
    expect(ApiError.is(response) && response.status).toMatchObject({ code: 429, details: { retryAfterSeconds: 1 } })
    expect(faults).toEqual([])
  })

  it('passes on what the credential says to the caller and to the audit trail', async () => {
    const { state } = await run(known({ warnings: ['old'], annotations: { a: 'b' } }))
    expect([state.user, state.warnings, state.annotations]).toEqual([alice, ['old'], { a: 'b' }])
  })

  it('P243 nobody behind it sees the headers of proxies', async () => {
    const headers = { 'x-remote-user': 'admin', 'x-remote-extra-a': 'b', 'x-who': 'admin', accept: 'x' }
    const { state, request } = await run(known(), { headers })
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
  ])('refuses malformed identity headers with %i, even where the caller is known: %j', async (code, headers) => {
    for (const user of [alice, undefined]) {
      const { response } = await run(known(), { headers, user })
      expect(ApiError.is(response) && response.code).toBe(code)
    }
  })

  it('leaves a request alone that has none of them', async () => {
    const { state, request } = await run(known(), { headers: { accept: 'x' } })
    expect(state.request).toBe(request)
  })

  it('takes the word of callers in the same process', async () => {
    const { state } = await run({ kind: 'noOpinion' }, { user: alice })
    expect(state.user).toBe(alice)
  })
})
