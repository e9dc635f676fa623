import type { ApiRequest } from '@krmkit/protocol'

/** Every member of an `ApiRequest`, so that the compiler requires a new one here, too. */
type AllMembers = { readonly [K in keyof Required<ApiRequest>]: ApiRequest[K] }

/**
 * Returns the request with another signal. Members are forwarded one by one: adapters pass class instances, whose methods and getters
 * a spread would lose.
 */
export function withSignal(request: ApiRequest, signal: AbortSignal): ApiRequest {
  const { method, path, query, headers, headersJoined, upgradable, peer, user, decisions, internal } = request
  const stream = request.stream === undefined ? undefined : () => request.stream!()
  const body = (limitBytes: number) => request.body(limitBytes)
  return {
    method,
    path,
    query,
    headers,
    headersJoined,
    body,
    stream,
    upgradable,
    peer,
    signal,
    user,
    decisions,
    internal,
  } satisfies AllMembers
}
