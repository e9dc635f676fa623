import type { Filter } from '../request-context.ts'
import { header } from '../request-context.ts'

/**
 * Answers browsers of allowed origins. Patterns are regular expressions given by the operator, which allow every origin that
 * they match anywhere (anchor them with `^` and `$`); without patterns nothing is allowed.
 */
export function cors(patterns: readonly RegExp[]): Filter | undefined {
  if (patterns.length === 0) return undefined
  // Patterns with these flags remember where they stopped.
  const plain = patterns.map(({ source, flags }) => new RegExp(source, flags.replace(/[gy]/g, '')))
  return async (context, next) => {
    const origin = header(context.request, 'origin')
    if (origin === undefined || origin.length > 2048 || !plain.some((pattern) => pattern.test(origin))) return next()
    const allowed = {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
      'access-control-allow-headers':
        'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
      'access-control-expose-headers': 'Date',
      'access-control-allow-credentials': 'true',
    }
    if (context.request.method === 'OPTIONS') return { status: 204, headers: allowed, body: { kind: 'empty' } }
    const response = await next()
    return { ...response, headers: { ...response.headers, ...allowed } }
  }
}
