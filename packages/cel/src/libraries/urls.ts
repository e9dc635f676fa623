import { declare, type FunctionDeclaration, method, overload } from '../values/declarations.ts'
import type { Meter } from '../values/meter.ts'
import { runCall } from '../values/pauses.ts'
import { boolType, listOf, mapOf, opaqueOf, stringType } from '../values/types.ts'
import { ArrayList, ErrorValue, LiteralMap, mapKey, OpaqueValue, type Value } from '../values/values.ts'
import type { Library } from './library.ts'
import { escapedPath, type ParsedUrl, parseRequestUrl, readQuery } from './parse-url.ts'

/** The URL library: `url('https://...')`. */

const urlType = opaqueOf('kubernetes.URL')

class Url extends OpaqueValue {
  readonly type = urlType
  readonly text: string
  readonly parts: ParsedUrl

  constructor(text: string, parts: ParsedUrl) {
    super()
    this.text = text
    this.parts = parts
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Url && other.text === this.text
  }
}

/** Host without port and brackets. */
function hostname(host: string): string {
  const bracketed = /^\[(.*)\]/.exec(host)
  return bracketed?.[1] ?? host.replace(/:\d*$/, '')
}

function port(host: string): string {
  return /:(\d*)$/.exec(host.startsWith('[') ? host.slice(host.lastIndexOf(']') + 1) : host)?.[1] ?? ''
}

function* queryOf(query: string): Generator<true, Value> {
  const members = new Map<unknown, readonly [Value, Value]>()
  for (const [key, values] of yield* readQuery(query)) members.set(mapKey(key), [key, new ArrayList(values)])
  return new LiteralMap(members)
}

function part(name: string, id: string, read: (url: ParsedUrl) => string): FunctionDeclaration {
  return declare(
    name,
    method(id, [urlType], stringType, (_: Meter, { parts }: Url) => read(parts)),
  )
}

const functions: readonly FunctionDeclaration[] = [
  declare(
    'url',
    overload('string_to_url', [stringType], urlType, (_: Meter, text: string): Value => {
      const parts = parseRequestUrl(text)
      return 'problem' in parts
        ? new ErrorValue(`URL parse error during conversion from string: ${parts.problem}`)
        : new Url(text, parts)
    }),
  ),
  declare(
    'isURL',
    overload('is_url_string', [stringType], boolType, (_: Meter, text: string) => !('problem' in parseRequestUrl(text))),
  ),
  part('getScheme', 'url_get_scheme', ({ scheme }) => scheme),
  part('getHost', 'url_get_host', ({ host }) => host),
  part('getHostname', 'url_get_hostname', ({ host }) => hostname(host)),
  part('getPort', 'url_get_port', ({ host }) => port(host)),
  part('getEscapedPath', 'url_get_escaped_path', escapedPath),
  declare(
    'getQuery',
    method('url_get_query', [urlType], mapOf(stringType, listOf(stringType)), (meter: Meter, { parts }: Url) =>
      runCall(meter, queryOf(parts.query)),
    ),
  ),
]

export const urls: Library = { name: 'urls', functions }
