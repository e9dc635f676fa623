import { concatBytes } from '@krmkit/base/bytes'
import { ClientError } from './client-error.ts'

/** Maximum length of a watch event. */
export const maxEventBytes = 64 * 1024 * 1024

/** Splits a byte stream into lines. An incomplete last line is dropped, because the connection was interrupted. */
export async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let pending: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    let from = 0
    for (;;) {
      const end = chunk.indexOf(10, from)
      if (end < 0) break
      const last = chunk.subarray(from, end)
      const line = pending.length === 0 ? last : concatBytes([...pending, last])
      pending = []
      bytes = 0
      from = end + 1
      if (line.length > 0) yield line
    }
    if (from === chunk.length) continue
    pending.push(from === 0 ? chunk : chunk.subarray(from))
    bytes += chunk.length - from
    if (bytes > maxEventBytes) throw new ClientError({ code: 'InvalidResponse', message: 'a watch event exceeds 64 MiB' })
  }
}
