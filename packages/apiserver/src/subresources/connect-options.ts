import { ApiError, type ApiObject, formatApiVersion } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import type { TypeNode } from '@krmkit/schema'
import type { RequestContext } from '../request/context.ts'
import type { RequestInfo } from '../request/info.ts'
import { flag, integer, type Query, text } from '../request/query.ts'
import type { RequestScope } from '../request/scope.ts'

/**
 * The options of a connection as the object that admission sees: `PodExecOptions` and the like, whose members are query parameters.
 * `path` is the rest of the request's path, with its slashes.
 *
 * @throws ApiError 400 for malformed numbers.
 */
export function connectOptions({ responses, subresource }: RequestScope, { info, query }: RequestContext): ApiObject | undefined {
  const kind = subresource?.kind
  const name = `core/${kind?.version}.${kind?.kind}`
  if (kind === undefined || !responses.types.has(name)) return undefined
  const options: Record<string, unknown> = { kind: kind.kind, apiVersion: formatApiVersion(kind) }
  for (const { json, type } of responses.types.struct(name).fields) {
    if (Object.hasOwn(options, json)) continue
    const value = json === 'path' ? pathOf(info) : parameterOf(query, json, type)
    if (value !== undefined && value !== '' && value !== false) options[json] = value
  }
  return options as unknown as ApiObject
}

function pathOf({ rest, path }: RequestInfo): string {
  const joined = rest.length === 0 ? '' : `/${rest.join('/').replace(/^\//, '')}`
  return path.endsWith('/') && !joined.endsWith('/') ? `${joined}/` : joined
}

function parameterOf(query: Query, name: string, type: TypeNode): unknown {
  if (!query.has(name)) return undefined
  if (type.kind === 'list') {
    const all = query.get(name) ?? []
    const isText = type.of.kind === 'scalar' && type.of.scalar === 'string'
    return isText ? [...all] : all.flatMap((each) => each.split(',').map(portOf))
  }
  if (type.kind !== 'scalar') return undefined
  if (type.scalar === 'bool') return flag(query, name)
  return type.scalar === 'string' ? text(query, name) : integer(query, name)
}

/** Parses a number in a list parameter, which is a port. @throws ApiError 400 */
function portOf(given: string): number {
  const why = /^\d+$/.test(given) ? (Number(given) > 65_535 ? 'value out of range' : undefined) : 'invalid syntax'
  if (why === undefined) return Number(given)
  throw ApiError.badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${goQuote(given)}: ${why}`)
}
