import { ApiError, type Status } from '@krmkit/meta'
import { ClientError } from './client-error.ts'
import type { TransportResponse } from './transport.ts'

/** Reads a whole body. */
export async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}

/** Parses a JSON body. @throws ClientError `InvalidAnswer` when it is none. */
export function parseAnswer(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(bytes))
  } catch (cause) {
    throw new ClientError({ code: 'InvalidAnswer', message: 'the server answered with something that is not JSON', cause })
  }
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

/** The failure that an answer of 400 or above tells: its Status, or what its number alone says. */
export async function failureOf(response: TransportResponse, request: { readonly method: string }): Promise<ApiError> {
  const text = textOf(await bytesOf(response.body))
  const status = statusIn(text)
  if (status !== undefined) return new ApiError({ ...status, code: status.code ?? response.status })
  const retryAfterSeconds = retryAfterOf(response)
  return ApiError.generic(response.status, {
    verb: request.method,
    serverMessage: text.trim().slice(0, 2048),
    unexpected: true,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

function statusIn(text: string): Status | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isStatus(value) && value.status !== 'Success' ? value : undefined
  } catch {
    return undefined
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

/** Seconds of a Retry-After header; absent when there is none that can be read. */
export function retryAfterOf(response: TransportResponse): number | undefined {
  const header = response.headers['retry-after']
  const text = typeof header === 'string' ? header : header?.[0]
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined
}

/** Texts of the Warning headers: `299 - "text"`. */
export function warningsOf(response: TransportResponse): string[] {
  const header = response.headers.warning
  if (header === undefined) return []
  const texts: string[] = []
  for (const one of typeof header === 'string' ? [header] : header) {
    for (const match of one.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)) texts.push(match[1]!.replace(/\\(.)/g, '$1'))
  }
  return texts
}
