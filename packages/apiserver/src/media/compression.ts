/** Compression by the Compression Streams API, which every runtime has. Node runs it in its thread pool. */

import { concatBytes } from '@krmkit/base/bytes'

export type Coder = CompressionStream | DecompressionStream

/** Size of one write to the compressor, in bytes. */
const chunkBytes = 128 * 1024

/** Compresses chunks without joining the whole document. */
export async function gzip(chunks: Iterable<Uint8Array>): Promise<Uint8Array> {
  return readAll(codedChunks(joinedChunks(chunks), new CompressionStream('gzip')))
}

/** @throws TypeError for malformed input */
export async function gunzip(bytes: Uint8Array): Promise<Uint8Array> {
  return readAll(codedChunks([bytes], new DecompressionStream('gzip')))
}

/**
 * Pipes chunks through a coder and returns the output. An error of the input or of the coder ends both, and the reader gets the error. A
 * reader that stops ends the input at once, even while its next chunk is pending.
 */
export function codedChunks(chunks: Chunks, coder: Coder): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
      const reader = coder.readable.getReader()
      const input = feed(iterator, coder.writable.getWriter())
      // The reader fails with the same error.
      input.catch(() => undefined)
      return {
        async next() {
          const { done, value } = await reader.read()
          if (!done) return { done, value }
          await input
          return { done, value: undefined }
        },
        async return() {
          await Promise.all([reader.cancel(), iterator.return?.()])
          return { done: true, value: undefined }
        },
      }
    },
  }
}

type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

async function feed(
  iterator: Iterator<Uint8Array> | AsyncIterator<Uint8Array>,
  writer: WritableStreamDefaultWriter<BufferSource>,
): Promise<void> {
  try {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      await writer.ready
      await writer.write(next.value as Uint8Array<ArrayBuffer>)
    }
    await writer.close()
  } catch (error) {
    await Promise.all([writer.abort(error), iterator.return?.()])
    throw error
  }
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of chunks) parts.push(part)
  return concatBytes(parts)
}

function* joinedChunks(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  let chunk: Uint8Array[] = []
  let length = 0
  for (const part of chunks) {
    chunk.push(part)
    length += part.byteLength
    if (length < chunkBytes) continue
    yield concatBytes(chunk, length)
    chunk = []
    length = 0
  }
  if (length > 0) yield concatBytes(chunk, length)
}
