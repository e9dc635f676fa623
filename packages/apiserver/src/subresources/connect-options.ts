import { type ApiObject, formatApiVersion } from '@krmkit/meta'
import type { TypeNode } from '@krmkit/schema'
import { flag, integer, type Query, text } from '../query.ts'
import type { ResourceRequest } from '../resource-handler.ts'

/**
 * What a connection was asked for, as the object that admission sees: `PodExecOptions` and the like, whose members are query
 * parameters. `path` is what follows the sub-resource.
 *
 * @throws ApiError 400 for what is no number.
 */
export function connectOptions({ machinery, state, subresource }: ResourceRequest): ApiObject | undefined {
  const kind = subresource?.kind
  const name = `core/${kind?.version}.${kind?.kind}`
  if (kind === undefined || !machinery.responder.types.has(name)) return undefined
  const options: Record<string, unknown> = { kind: kind.kind, apiVersion: formatApiVersion(kind) }
  for (const { json, type } of machinery.responder.types.struct(name).fields) {
    if (Object.hasOwn(options, json)) continue
    const value = json === 'path' ? state.info.rest.join('/') : parameterOf(state.query, json, type)
    if (value !== undefined && value !== '' && value !== false) options[json] = value
  }
  return options as unknown as ApiObject
}

function parameterOf(query: Query, name: string, type: TypeNode): unknown {
  if (!query.has(name)) return undefined
  if (type.kind === 'list') {
    const all = query.get(name) ?? []
    const isText = type.of.kind === 'scalar' && type.of.scalar === 'string'
    return isText ? [...all] : all.map((each) => integer(new Map([[name, [each]]]), name))
  }
  if (type.kind !== 'scalar') return undefined
  if (type.scalar === 'bool') return flag(query, name)
  return type.scalar === 'string' ? text(query, name) : integer(query, name)
}
