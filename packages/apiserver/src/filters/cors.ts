import { type Filter, header } from '../request/context.ts'

/**
 * Adds CORS headers for allowed origins and responds to preflight requests. A pattern may match any part of an origin, so anchor it with
 * `^` and `$`. Without patterns, no origin is allowed.
 */
export function cors(patterns: readonly RegExp[]): Filter | undefined {
  if (patterns.length === 0) return undefined
  // Without the flags `g` and `y`, which make patterns stateful.
  const plain = patterns.map(({ source, flags }) => new RegExp(source, flags.replace(/[gy]/g, '')))
  return (context, next) => {
    const origin = header(context.request, 'origin')
    if (origin === undefined || origin.length > 2048 || !plain.some((pattern) => pattern.test(origin))) return next(context)
    const allowed = {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
      'access-control-allow-headers':
        'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
      'access-control-expose-headers': 'Date',
      'access-control-allow-credentials': 'true',
    }
    if (context.request.method === 'OPTIONS') {
      return Promise.resolve({ status: 204, headers: allowed, body: { kind: 'empty' } })
    }
    return next(context).then((response) => ({ ...response, headers: { ...response.headers, ...allowed } }))
  }
}
