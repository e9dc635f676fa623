import type { Readable } from 'node:stream'
import { ApiError } from '@krmkit/meta'
import type { BodyRateMonitor } from './body-rate.ts'
import { discardBytes } from './unread-body.ts'

const empty = new Uint8Array(0)
const resolvedEmpty = Promise.resolve(empty)

/** The body of a request without one. */
export function emptyBody(): Promise<Uint8Array> {
  return resolvedEmpty
}

/** The body stream of a request without a body. */
export async function* emptyStream(): AsyncGenerator<Uint8Array> {}

export interface ReadBodyOptions {
  readonly limitBytes: number
  readonly contentLength: number | undefined
  readonly rates: BodyRateMonitor
}

/**
 * Reads a whole body.
 *
 * @throws ApiError 413 above `limitBytes` (the rest is discarded, within bounds), 408 below the minimum rate, 400 when the client
 *   disconnects before the end
 */
export function readBody(source: Readable, options: ReadBodyOptions): Promise<Uint8Array> {
  const { limitBytes, contentLength, rates } = options
  if (contentLength !== undefined && contentLength > limitBytes) {
    discard(source)
    return Promise.reject(tooLarge(limitBytes))
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const monitored = rates.begin(() => {
      settle()
      source.pause()
      reject(tooSlow())
    })
    const onData = (chunk: Buffer) => {
      length += chunk.length
      monitored.received += chunk.length
      if (length <= limitBytes) {
        chunks.push(chunk)
        return
      }
      settle()
      discard(source)
      reject(tooLarge(limitBytes))
    }
    const onEnd = () => {
      settle()
      resolve(chunks.length === 1 ? chunks[0]! : chunks.length === 0 ? empty : Buffer.concat(chunks, length))
    }
    const onClose = () => {
      settle()
      reject(ApiError.badRequest('unexpected EOF'))
    }
    const settle = () => {
      rates.end(monitored)
      source.off('data', onData).off('end', onEnd).off('close', onClose)
    }
    source.on('data', onData).on('end', onEnd).on('close', onClose)
  })
}

/**
 * Takes a whole body that is buffered in `source`, without listening to its events.
 *
 * @throws ApiError 413 above `limitBytes`
 */
export function takeBody(source: Readable, limitBytes: number): Promise<Uint8Array> {
  const bytes = source.read() as Buffer
  // Read the end of the stream, too.
  source.resume()
  return bytes.length > limitBytes ? Promise.reject(tooLarge(limitBytes)) : Promise.resolve(bytes)
}

/**
 * Keeps reading and discarding input, within bounds, so that the client can read the response. `limitUnreadBody` bounds the input after the
 * response.
 */
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

function tooLarge(limitBytes: number): ApiError {
  return ApiError.requestEntityTooLarge(`limit is ${limitBytes}`)
}
