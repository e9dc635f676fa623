import { isJsonObject } from '@krmkit/meta'

const discoveryPath = /^\/(apis?\/?|openapi\/v[23]\/?)?$/
const customGroup = /(^|[./])example\.com\b|\bcom\.example\./

/**
 * The body of a discovery document without the groups of other scenarios, which define and delete resources meanwhile. Other bodies stay
 * as they are.
 */
export function withoutOtherGroups(path: string, body: unknown): unknown {
  return discoveryPath.test(path) ? ownGroups(body) : body
}

function ownGroups(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !isOfOthers(nameOf(item))).map(ownGroups)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !isOfOthers(key))
      .map(([key, member]) => [key, ownGroups(member)]),
  )
}

function nameOf(item: unknown): string {
  if (typeof item === 'string') return item
  const { name, metadata } = (item ?? {}) as { readonly name?: unknown; readonly metadata?: { readonly name?: unknown } }
  return String(name ?? metadata?.name ?? '')
}

/** Names of the scenario itself contain the placeholder of its id. */
function isOfOthers(name: string): boolean {
  return customGroup.test(name) && !name.includes('{id}')
}
