import type { ApiRequest } from '@krmkit/protocol'

/** Lists every member of an `ApiRequest`, so that the compiler requires new members here, too. */
type AllMembers = { readonly [K in keyof Required<ApiRequest>]: ApiRequest[K] }

/** Members of a request that differ from the original. */
export type RequestOverrides = Partial<Pick<ApiRequest, 'signal' | 'trace' | 'body' | 'query'>>

/**
 * Returns the request with some members replaced. Members are forwarded one by one, because adapters pass class instances,
 * whose methods and getters a spread would lose.
 */
export function withOverrides(request: ApiRequest, overrides: RequestOverrides): ApiRequest {
  const { method, path, headers, headersJoined, upgradable, peer, user, decisions, internal } = request
  const stream = request.stream === undefined ? undefined : () => request.stream!()
  const {
    body = (limitBytes: number) => request.body(limitBytes),
    trace = request.trace,
    query = request.query,
    signal,
  } = overrides
  return {
    method,
    path,
    query,
    headers,
    headersJoined,
    body,
    isBodyReceived: overrides.body === undefined ? request.isBodyReceived : undefined,
    stream,
    upgradable,
    peer,
    signal: signal ?? request.signal,
    user,
    decisions,
    trace,
    internal,
  } satisfies AllMembers
}
