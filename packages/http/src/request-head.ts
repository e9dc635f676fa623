import { sentText } from './header-text.ts'

/** The parts of a request's head, as an `ApiRequest` wants them. */

type Headers = Record<string, string | string[] | undefined>

export interface Target {
  readonly path: string
  readonly query: string
}

/**
 * Splits a request target without decoding or normalising anything: `//a/../b%2F?x` keeps its path as it came. A target
 * in absolute form loses its scheme and authority.
 */
export function splitTarget(target: string): Target {
  const text = sentText(target)
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
 * Headers by lower-case name from the flat list of names and values of the wire; a repeated header is a list of its values
 * in order. The pseudo headers of HTTP/2 are left out, its authority becomes `host`.
 */
export function headersOf(raw: readonly string[]): Headers {
  const headers: Headers = Object.create(null)
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    const value = sentText(raw[i + 1]!)
    if (name.charCodeAt(0) === 58) {
      if (name === ':authority') headers.host ??= value
      continue
    }
    const known = headers[name]
    if (known === undefined) headers[name] = value
    else if (typeof known === 'string') headers[name] = [known, value]
    else known.push(value)
  }
  return headers
}

/** Whether gzip is among the codings that the client names; weights are not looked at, as the stock server does not. */
export function acceptsGzip(header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false
  if (typeof header !== 'string') return header.some(acceptsGzip)
  return header === 'gzip' || header.split(',').some((coding) => coding.trim() === 'gzip')
}
