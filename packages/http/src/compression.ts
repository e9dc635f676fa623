import type { ApiBody, ApiRequest, ApiResponse } from '@krmkit/protocol'
import { acceptsGzip } from './request-head.ts'

/** Smaller bodies are not worth compressing; the stock server's threshold. */
const thresholdBytes = 128 * 1024

/** Whether this answer goes out compressed: large, whole, not yet encoded, and asked for. */
export function shouldCompress(request: ApiRequest, answer: ApiResponse): boolean {
  return (
    wholeLength(answer.body) > thresholdBytes &&
    request.method !== 'HEAD' &&
    answer.headers['content-encoding'] === undefined &&
    acceptsGzip(request.headers['accept-encoding'])
  )
}

/** Length of a body that is not a stream. */
export function wholeLength(body: ApiBody): number {
  switch (body.kind) {
    case 'bytes':
      return body.bytes.length
    case 'list':
      return body.length
    default:
      return 0
  }
}

/** Headers of the compressed answer: no length, and caches are told what it depends on. */
export function compressedHeaders(headers: ApiResponse['headers']): Record<string, string | readonly string[]> {
  const changed: Record<string, string | readonly string[]> = { ...headers, 'content-encoding': 'gzip' }
  delete changed['content-length']
  const vary = headers.vary
  changed.vary = vary === undefined ? 'Accept-Encoding' : [...(typeof vary === 'string' ? [vary] : vary), 'Accept-Encoding']
  return changed
}
