import type { ApiResponse } from '../interfaces.ts'
import type { RequestState } from '../request-state.ts'
import type { ProxiedRequest } from './interfaces.ts'

/** A request as another server gets it: who asks stands in headers that it believes because of our certificate. */

/** Those that are about one connection only, and those that say who asks. */
const dropped = new Set([
  'authorization',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export const identityHeaders = { user: 'x-remote-user', group: 'x-remote-group', uid: 'x-remote-uid', extra: 'x-remote-extra-' }

export async function passedOn(state: RequestState, limitBytes: number): Promise<ProxiedRequest> {
  const { request, user } = state
  const headers: Record<string, string | readonly string[]> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || dropped.has(name) || name.startsWith(':') || name.startsWith('x-remote-')) continue
    if (name.startsWith('impersonate-')) continue
    headers[name] = value
  }
  headers[identityHeaders.user] = user.username
  if (user.groups.length > 0) headers[identityHeaders.group] = user.groups
  if (user.uid !== undefined && user.uid !== '') headers[identityHeaders.uid] = user.uid
  for (const [key, values] of Object.entries(user.extra ?? {})) {
    headers[identityHeaders.extra + headerName(key)] = values
  }
  const from = request.peer.address
  if (from !== undefined) {
    const before = request.headers['x-forwarded-for']
    headers['x-forwarded-for'] = [before ?? [], from].flat().join(', ')
  }
  const body = await request.body(limitBytes)
  return {
    method: request.method,
    path: request.query === '' ? request.path : `${request.path}?${request.query}`,
    headers,
    body,
    signal: state.signal,
  }
}

/** What may not stand in the name of a header is escaped, as on the stock server. */
function headerName(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9!#$&'*+.^_`|~-]/g, (c) => encodeURIComponent(c))
}

/** Headers of the answer that are about the connection it came over. */
export function answered(response: ApiResponse): ApiResponse {
  const headers = Object.fromEntries(Object.entries(response.headers).filter(([name]) => !dropped.has(name)))
  return { ...response, headers }
}
