import type { ApiBody, ApiRequest, ApiResponse } from '@krmkit/protocol'
import { acceptsGzip } from './request-head.ts'

/** Threshold of kube-apiserver; smaller bodies are not worth compressing. */
const thresholdBytes = 128 * 1024

/** Whether to compress a response: it is large, not a stream, not yet encoded, and the client accepts gzip. */
export function shouldCompress(request: ApiRequest, response: ApiResponse): boolean {
  return (
    bodyLength(response.body) > thresholdBytes &&
    request.method !== 'HEAD' &&
    response.headers['content-encoding'] === undefined &&
    acceptsGzip(request.headers['accept-encoding'])
  )
}

/** Length of a body in bytes; 0 for streams. */
export function bodyLength(body: ApiBody): number {
  switch (body.kind) {
    case 'bytes':
      return body.bytes.length
    case 'list':
      return body.length
    default:
      return 0
  }
}

/** Headers of the compressed response: without a length, and with `vary` for caches. */
export function compressedHeaders(headers: ApiResponse['headers']): Record<string, string | readonly string[]> {
  const changed: Record<string, string | readonly string[]> = { ...headers, 'content-encoding': 'gzip' }
  delete changed['content-length']
  const vary = headers.vary
  changed.vary = vary === undefined ? 'Accept-Encoding' : [...(typeof vary === 'string' ? [vary] : vary), 'Accept-Encoding']
  return changed
}
