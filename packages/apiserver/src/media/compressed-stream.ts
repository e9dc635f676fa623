import type { ApiRequest } from '@krmkit/protocol'
import { gzip } from './compression.ts'

/** Compressed streams of events. */

/**
 * Whether the client accepts a stream in gzip: by the first `accept-encoding` field, without regard to weights, as on kube-apiserver. Frames
 * of a WebSocket are not compressed.
 */
export function acceptsGzipStream({ headers }: ApiRequest): boolean {
  if (isWebSocket(headers.upgrade)) return false
  const accepted = headers['accept-encoding']
  const first = typeof accepted === 'string' ? accepted : accepted?.[0]
  return first?.split(',').some((coding) => coding.trim() === 'gzip') === true
}

function isWebSocket(upgrade: string | readonly string[] | undefined): boolean {
  const protocols = typeof upgrade === 'string' ? [upgrade] : (upgrade ?? [])
  return protocols.some((protocol) => protocol.toLowerCase().includes('websocket'))
}

/** Watches that send the same chunk share its compressed form. */
const compressed = new WeakMap<Uint8Array, Promise<Uint8Array>>()

/**
 * Compresses each chunk as a whole gzip file; several in a row are one gzip file. The client can decode each chunk when it arrives, and
 * a stream that waits keeps no compressor.
 */
export function gzipEach(stream: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const chunks = stream[Symbol.asyncIterator]()
      return {
        async next() {
          const result = await chunks.next()
          return result.done === true ? result : { done: false, value: await gzipOf(result.value) }
        },
        async return() {
          await chunks.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

function gzipOf(chunk: Uint8Array): Promise<Uint8Array> {
  const known = compressed.get(chunk)
  if (known !== undefined) return known
  const compressing = gzip([chunk])
  compressed.set(chunk, compressing)
  return compressing
}
