import type { Readable } from 'node:stream'
import { ApiError } from '@krmkit/meta'

const empty = new Uint8Array(0)
const emptyBody = Promise.resolve(empty)
/** What is still read and thrown away of a body that is too large, so that the client gets to read the refusal. */
const discardBytes = 8 * 1024 * 1024

/** The answer to every request without a body. */
export function noBody(): Promise<Uint8Array> {
  return emptyBody
}

/** The same, piece by piece: there is none. */
export async function* nothing(): AsyncGenerator<Uint8Array> {}

/**
 * Reads all of `source`.
 *
 * @throws ApiError 413 above `limit` (the rest is discarded, within bounds), 400 when the client goes away in the middle.
 */
export function readBody(
  source: Readable,
  options: { readonly limit: number; readonly declared: number | undefined },
): Promise<Uint8Array> {
  const { limit, declared } = options
  if (declared !== undefined && declared > limit) {
    discard(source)
    return Promise.reject(tooLarge(limit))
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length <= limit) {
        chunks.push(chunk)
        return
      }
      settle()
      discard(source)
      reject(tooLarge(limit))
    }
    const onEnd = () => {
      settle()
      resolve(chunks.length === 1 ? chunks[0]! : chunks.length === 0 ? empty : Buffer.concat(chunks, length))
    }
    const onGone = () => {
      settle()
      reject(ApiError.badRequest('unexpected EOF'))
    }
    const settle = () => {
      source.off('data', onData).off('end', onEnd).off('close', onGone)
    }
    source.on('data', onData).on('end', onEnd).on('close', onGone)
  })
}

function discard(source: Readable): void {
  let budget = discardBytes
  source.on('data', (chunk: Buffer) => {
    budget -= chunk.length
    if (budget < 0) source.destroy()
  })
  source.resume()
}

function tooLarge(limit: number): ApiError {
  return ApiError.requestEntityTooLarge(`limit is ${limit}`)
}
