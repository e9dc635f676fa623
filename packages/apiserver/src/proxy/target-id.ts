import { ApiError } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'

/** The name of a `proxy` request: `name`, `name:port` or `scheme:name:port`. */
export interface TargetId {
  readonly scheme: 'http' | 'https' | ''
  readonly name: string
  /** Number or name; empty: the default port. */
  readonly port: string
}

const schemes: ReadonlySet<string> = new Set(['', 'http', 'https'])

/** @throws ApiError 400 for other forms; the message names `kind`. */
export function parseTargetId(id: string, kind: 'service' | 'pod' | 'node'): TargetId {
  const parts = id.split(':')
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts]
  if (parts.length > 3 || name === '' || !schemes.has(scheme)) {
    throw ApiError.badRequest(`invalid ${kind} request ${goQuote(id)}`)
  }
  return { scheme: scheme as TargetId['scheme'], name, port }
}

/** The port number of a text; 0 is not allowed. @throws ApiError 400 */
export function connectablePort(port: string, invalid: () => ApiError): number {
  const number = /^[0-9]{1,5}$/.test(port) ? Number(port) : 0
  if (number < 1 || number > 65535) throw invalid()
  return number
}
