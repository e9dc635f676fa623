import { concatBytes, utf8Text } from '@krmkit/base/bytes'
import { ApiError, type Status } from '@krmkit/meta'
import type { TransportResponse } from '@krmkit/protocol'
import { ClientError } from './client-error.ts'
import { largeBodyBytes, parseLargeJson } from './large-json.ts'

/** Reads a complete body. */
export async function readBytes(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return parts.length === 1 ? parts[0]! : concatBytes(parts)
}

/** Reads a body to its end without keeping it, so that the connection can be reused. */
export async function drain(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of body);
}

/**
 * Parses a JSON body. @returns the value; a promise for a large body, which is parsed in time slices. @throws ClientError
 * `InvalidResponse`
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length > largeBodyBytes) return parseLargeJson(bytes).catch(rejectJson)
  try {
    return JSON.parse(utf8Text(bytes))
  } catch (cause) {
    return rejectJson(cause)
  }
}

function rejectJson(cause: unknown): never {
  throw new ClientError({ code: 'InvalidResponse', message: 'the response is not valid JSON', cause })
}

/** Decodes a body of a content type. @throws ClientError `InvalidResponse` */
export interface BodyDecoder {
  decode(bytes: Uint8Array, contentType: string): Promise<unknown>
}

/** Converts a response of 400 or above to an error, from its Status or else from its status code. */
export async function apiErrorOf(
  response: TransportResponse,
  { method, codec }: { readonly method: string; readonly codec: BodyDecoder },
): Promise<ApiError> {
  const bytes = await readBytes(response.body)
  const status = await statusIn(bytes, { contentType: contentTypeOf(response), codec })
  if (status !== undefined) return new ApiError({ ...status, code: status.code ?? response.status })
  const retryAfterSeconds = retryAfterOf(response)
  return ApiError.generic(response.status, {
    verb: method,
    serverMessage: utf8Text(bytes.subarray(0, 16 * 1024))
      .trim()
      .slice(0, 2048),
    unexpected: true,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

async function statusIn(
  bytes: Uint8Array,
  { contentType, codec }: { readonly contentType: string; readonly codec: BodyDecoder },
): Promise<Status | undefined> {
  try {
    const value = await codec.decode(bytes, contentType)
    return isStatus(value) && value.status !== 'Success' ? value : undefined
  } catch (error) {
    // Proxies may respond with any text.
    if (error instanceof ClientError) return undefined
    throw error
  }
}

export function isStatus(value: unknown): value is Status {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    value.kind === 'Status' &&
    'apiVersion' in value &&
    value.apiVersion === 'v1'
  )
}

/** Returns the seconds of a Retry-After header, if present and valid. */
export function retryAfterOf(response: TransportResponse): number | undefined {
  const header = response.headers['retry-after']
  const text = typeof header === 'string' ? header : header?.[0]
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined
}

/** Returns the texts of the Warning headers: `299 - "text"`. */
export function warningsOf(response: TransportResponse): string[] {
  const header = response.headers.warning
  if (header === undefined) return []
  const texts: string[] = []
  for (const value of typeof header === 'string' ? [header] : header) {
    for (const match of value.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)) texts.push(match[1]!.replace(/\\(.)/g, '$1'))
  }
  return texts
}

/** The Content-Type of a response, empty when absent. */
export function contentTypeOf({ headers }: Pick<TransportResponse, 'headers'>): string {
  const header = headers['content-type']
  return (typeof header === 'string' ? header : header?.[0]) ?? ''
}
