import type { Readable } from 'node:stream'
import { ApiError } from '@krmkit/meta'
import type { BodyPace } from './body-pace.ts'
import { discardBytes } from './unread-body.ts'

const empty = new Uint8Array(0)
const emptyBody = Promise.resolve(empty)

/** The answer to every request without a body. */
export function noBody(): Promise<Uint8Array> {
  return emptyBody
}

/** The same, piece by piece: there is none. */
export async function* nothing(): AsyncGenerator<Uint8Array> {}

export interface ReadOptions {
  readonly limit: number
  readonly declared: number | undefined
  readonly pace: BodyPace
}

/**
 * Reads all of `source`.
 *
 * @throws ApiError 413 above `limit` (the rest is discarded, within bounds), 408 when it arrives too slowly, 400 when the client goes away
 *   in the middle.
 */
export function readBody(source: Readable, options: ReadOptions): Promise<Uint8Array> {
  const { limit, declared, pace } = options
  if (declared !== undefined && declared > limit) {
    discard(source)
    return Promise.reject(tooLarge(limit))
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const paced = pace.begin(() => {
      settle()
      source.pause()
      reject(tooSlow())
    })
    const onData = (chunk: Buffer) => {
      length += chunk.length
      paced.received += chunk.length
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
      pace.end(paced)
      source.off('data', onData).off('end', onEnd).off('close', onGone)
    }
    source.on('data', onData).on('end', onEnd).on('close', onGone)
  })
}

/** Reads on, within bounds, so that the answer is not lost; what comes after it is bounded by `boundUnreadBody`. */
function discard(source: Readable): void {
  let budget = discardBytes
  const count = (chunk: Buffer) => {
    budget -= chunk.length
    if (budget < 0) source.off('data', count).pause()
  }
  source.on('data', count).resume()
}

function tooSlow(): ApiError {
  const message = 'the request body arrives too slowly'
  return new ApiError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'Timeout',
    code: 408,
  })
}

function tooLarge(limit: number): ApiError {
  return ApiError.requestEntityTooLarge(`limit is ${limit}`)
}
