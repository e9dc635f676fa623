import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { StatusReason } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'

/** Responses of the adapter itself, and sending of chunks to a Node stream. */

/** Sent when a handler throws, which violates its contract. */
export const internalErrorBody = Buffer.from(
  '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Internal error occurred","reason":"InternalError","code":500}\n',
)

export const internalErrorResponse: ApiResponse = {
  status: 500,
  headers: { 'content-type': 'application/json' },
  body: { kind: 'bytes', bytes: internalErrorBody },
}

/** Whether a handler drops the request without a response. */
export function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

const errorReasons: Readonly<Record<number, StatusReason>> = { 400: 'BadRequest', 405: 'MethodNotAllowed' }

/** A Status response to a request that does not reach the handler. */
export function errorResponse(code: number, message: string): ApiResponse {
  const reason = errorReasons[code]
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code }
  return {
    status: code,
    headers: { 'content-type': 'application/json' },
    body: { kind: 'bytes', bytes: Buffer.from(`${JSON.stringify(status)}\n`) },
  }
}

/** Sends the chunks of a body at the pace of the client. A client that disconnects is not an error. */
export function sendChunks(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, sink: NodeJS.WritableStream): void {
  pipeline(Readable.from(chunks, { objectMode: true, highWaterMark: 1 }), sink).catch(() => undefined)
}
