import type { IncomingMessage } from 'node:http'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'

/** Rejects request heads that node's parser accepts but kube-apiserver does not, with the responses of kube-apiserver. */

/** The number of header fields that a listener accepts: each counts for at least 32 octets, as in HTTP/2. */
export function maxHeaderFields(headerBytes: number): number {
  return Math.ceil(headerBytes / 32)
}

/** Checks a request head. @returns the response to an invalid one, after which the connection closes */
export function validateHttp1Head(
  { httpVersion, rawHeaders }: IncomingMessage,
  { headers, headerBytes }: { readonly headers: ApiRequest['headers']; readonly headerBytes: number },
): ApiResponse | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    // A request line without headers counts as HTTP/0.9.
    return rawHeaders.length === 0
      ? plain(400, '400 Bad Request')
      : plain(505, '505 HTTP Version Not Supported: unsupported protocol version')
  }
  // Node silently drops fields above the limit.
  if (rawHeaders.length >= 2 * maxHeaderFields(headerBytes)) return plain(431, '431 Request Header Fields Too Large')
  if (typeof headers.host === 'object') return plain(400, '400 Bad Request: too many Host headers')
  const coding = headers['transfer-encoding']
  if (coding === undefined) return undefined
  if (httpVersion === '1.0') return plain(400, '400 Bad Request')
  return typeof coding === 'string' && coding.toLowerCase() === 'chunked'
    ? undefined
    : plain(501, 'Unsupported transfer encoding')
}

function plain(status: number, text: string): ApiResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', connection: 'close' },
    body: { kind: 'bytes', bytes: Buffer.from(text) },
  }
}
