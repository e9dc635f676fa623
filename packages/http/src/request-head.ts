import { decodeHeaderValue } from './header-value.ts'

/** Converts parts of a request head to the form of an `ApiRequest`. */

type Headers = Record<string, string | string[] | undefined>

export interface Target {
  readonly path: string
  readonly query: string
}

/**
 * Splits a request target without decoding or normalizing it: `//a/../b%2F?x` keeps its path. The scheme and authority of a target in
 * absolute form are removed.
 */
export function splitTarget(target: string): Target {
  const text = decodeHeaderValue(target)
  const rest = text.charCodeAt(0) === 47 ? text : originForm(text)
  const mark = rest.indexOf('?')
  return mark < 0 ? { path: rest, query: '' } : { path: rest.slice(0, mark), query: rest.slice(mark + 1) }
}

function originForm(target: string): string {
  const scheme = /^https?:\/\//i.exec(target)
  if (scheme === null) return target
  const start = target.slice(scheme[0].length).search(/[/?]/)
  if (start < 0) return '/'
  const rest = target.slice(scheme[0].length + start)
  return rest.startsWith('?') ? `/${rest}` : rest
}

/**
 * Converts a flat list of names and values to headers by lower-case name. A repeated header becomes a list of its values, in order. The
 * pseudo-headers of HTTP/2 are omitted, except that `:authority` becomes `host`.
 */
export function headersOf(raw: readonly string[]): Headers {
  const headers: Headers = Object.create(null)
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    const value = decodeHeaderValue(raw[i + 1]!)
    if (name.charCodeAt(0) === 58) {
      if (name === ':authority') headers.host ??= value
      continue
    }
    const previous = headers[name]
    if (previous === undefined) headers[name] = value
    else if (typeof previous === 'string') headers[name] = [previous, value]
    else previous.push(value)
  }
  return headers
}

/** Whether the client accepts gzip. Weights are ignored, as in kube-apiserver. */
export function acceptsGzip(header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false
  if (typeof header !== 'string') return header.some(acceptsGzip)
  return header === 'gzip' || header.split(',').some((coding) => coding.trim() === 'gzip')
}
