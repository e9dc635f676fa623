import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import { filler } from './requests.ts'

/** Responds in each way that the adapter distinguishes, as the path of the request states. */
export async function respond(request: ApiRequest): Promise<ApiResponse> {
  const kind = request.path.slice(1)
  const length = Number(new URLSearchParams(request.query).get('bytes'))
  const headers = { 'content-type': 'application/json', 'audit-id': [request.headers['audit-id'] ?? ''].flat()[0] ?? '' }
  if (kind !== 'refused' && kind !== 'unread') await request.body(filler.length)
  if (kind === 'late') await new Promise((resolve) => setImmediate(resolve))
  const bytes = filler.subarray(0, length)
  if (kind === 'stream') return { status: 200, headers, body: { kind: 'stream', stream: pieces(bytes) } }
  if (kind === 'list') {
    const half = Math.floor(length / 2)
    return { status: 200, headers, body: { kind: 'list', parts: [bytes.subarray(0, half), bytes.subarray(half)], length } }
  }
  if (length === 0) return { status: kind === 'refused' ? 401 : 200, headers, body: { kind: 'empty' } }
  // Bytes beyond ASCII are written in another way than those of ASCII.
  const body = kind === 'wide' ? Buffer.alloc(length, 0xe9) : bytes
  return { status: kind === 'refused' ? 401 : 200, headers, body: { kind: 'bytes', bytes: body } }
}

const pieceBytes = 50_000

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}
