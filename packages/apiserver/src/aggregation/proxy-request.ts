import { headerValues, isValidHeaderText } from '@krmkit/authentication/headers'
import { ApiError } from '@krmkit/meta'
import type { ProxiedRequest } from '@krmkit/protocol'
import { forwardedBody, forwardedFor, forwardedHeaders, isUpgradeRequest } from '../proxy/forwarded-message.ts'
import type { RequestContext } from '../request/context.ts'

/** Requests to aggregated servers. The user is in headers, which these servers trust because of the client certificate of the proxy. */

export const identityHeaders = { user: 'x-remote-user', group: 'x-remote-group', uid: 'x-remote-uid', extra: 'x-remote-extra-' }

/** @param host address and port of the destination. */
export function createProxiedRequest(
  context: RequestContext,
  { host, limitBytes }: { readonly host: string; readonly limitBytes: number },
): Omit<ProxiedRequest, 'signal' | 'body'> & { readonly readBody: () => Promise<ProxiedRequest['body']> } {
  const { request, auditId } = context
  const upgrade = isUpgradeRequest(request)
  const headers = forwardedHeaders(request, upgrade)
  Object.assign(headers, identityHeadersOf(context))
  headers['audit-id'] = auditId
  headers.host = host
  headers['x-forwarded-host'] = host
  headers['x-forwarded-proto'] = 'https'
  headers['x-forwarded-uri'] = request.path
  Object.assign(headers, forwardedFor(request))
  const path = request.query === '' ? request.path : `${request.path}?${request.query}`
  return { method: request.method, path, headers, upgrade, readBody: () => forwardedBody(request, limitBytes) }
}

/**
 * The headers that carry the user of the request.
 *
 * @throws ApiError 400 for a user that HTTP/1.1 headers cannot represent: the other server would see a different user.
 */
export function identityHeadersOf({ user }: Pick<RequestContext, 'user'>): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = { [identityHeaders.user]: user.username }
  if (user.groups.length > 0) headers[identityHeaders.group] = user.groups
  if (user.uid !== undefined && user.uid !== '') headers[identityHeaders.uid] = user.uid
  for (const [key, values] of Object.entries(user.extra ?? {})) {
    if (values.length > 0) headers[identityHeaders.extra + headerName(key)] = values
  }
  for (const name in headers) {
    if (headerValues(headers[name]).every(isPreserved)) continue
    throw ApiError.badRequest('the user has attributes that cannot be represented in headers to the server of this API')
  }
  return headers
}

/** Whether a header value arrives unchanged. Leading and trailing white space would be lost. */
function isPreserved(value: string): boolean {
  return isValidHeaderText(value) && !/^[ \t]|[ \t]$/.test(value)
}

/** Percent-encodes the bytes that header names must not contain, like kube-apiserver. */
function headerName(key: string): string {
  return key
    .toLowerCase()
    .replace(/[^a-z0-9!#$&'*+.^_`|~-]+/g, (text) =>
      [...new TextEncoder().encode(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
    )
}
