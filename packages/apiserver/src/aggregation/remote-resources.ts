import type { JsonObject } from '@krmkit/meta'

/** What another server says it serves, in the form in which all resources are told at once. */

interface Listed {
  readonly name: string
  readonly singularName?: string
  readonly namespaced?: boolean
  readonly group?: string
  readonly version?: string
  readonly kind?: string
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/**
 * From the resource list of a group version.
 *
 * @throws Error for what is no list of resources, or contradicts itself.
 */
export function listedResources(text: string): JsonObject[] {
  const list = JSON.parse(text) as { kind?: unknown; resources?: unknown } | null
  if (list?.kind !== 'APIResourceList' || !Array.isArray(list.resources ?? []))
    throw new Error('the answer is no APIResourceList')
  const listed = ((list.resources ?? []) as (Listed | null)[]).filter(
    (each): each is Listed => typeof each === 'object' && each !== null && typeof each.name === 'string',
  )
  const resources = new Map<string, JsonObject & { subresources?: JsonObject[] }>()
  for (const one of listed) if (!one.name.includes('/')) resources.set(one.name, resourceOf(one))
  for (const one of listed) {
    const slash = one.name.indexOf('/')
    if (slash < 0) continue
    const name = one.name.slice(0, slash)
    const owner = resources.get(name) ?? { resource: name, responseKind: noKind, scope: scopeOf(one), verbs: null }
    if (owner.scope !== scopeOf(one)) throw new Error(`the scopes of ${name} and ${one.name} do not match`)
    resources.set(name, owner)
    const subresource = { subresource: one.name.slice(slash + 1), responseKind: kindOf(one), verbs: [...(one.verbs ?? [])] }
    owner.subresources = [...(owner.subresources ?? []), subresource]
  }
  return [...resources.values()]
}

const noKind: JsonObject = { group: '', version: '', kind: '' }

/** Empty group and version stand for those of the list. */
function kindOf({ group = '', version = '', kind = '' }: Listed): JsonObject {
  return { group, version, kind }
}

function scopeOf({ namespaced }: Listed): string {
  return namespaced === true ? 'Namespaced' : 'Cluster'
}

function resourceOf(one: Listed): JsonObject {
  return {
    resource: one.name,
    responseKind: kindOf(one),
    scope: scopeOf(one),
    singularResource: one.singularName ?? '',
    verbs: [...(one.verbs ?? [])],
    ...((one.shortNames ?? []).length > 0 ? { shortNames: [...(one.shortNames ?? [])] } : {}),
    ...((one.categories ?? []).length > 0 ? { categories: [...(one.categories ?? [])] } : {}),
  }
}

/**
 * From the form in which a server tells all at once: resources by `group/version`.
 *
 * @throws Error for what is no such list.
 */
export function discoveredResources(text: string): ReadonlyMap<string, readonly JsonObject[]> {
  const list = JSON.parse(text) as { kind?: unknown; items?: unknown } | null
  if (list?.kind !== 'APIGroupDiscoveryList' || !Array.isArray(list.items ?? [])) {
    throw new Error('the answer is no APIGroupDiscoveryList')
  }
  const found = new Map<string, readonly JsonObject[]>()
  for (const group of objects(list.items)) {
    const name = isObject(group.metadata) && typeof group.metadata.name === 'string' ? group.metadata.name : ''
    for (const version of objects(group.versions)) {
      if (typeof version.version === 'string') found.set(`${name}/${version.version}`, objects(version.resources).map(withKinds))
    }
  }
  return found
}

/** Some clients do not bear it when a kind is missing. */
function withKinds(resource: JsonObject): JsonObject {
  const subresources = objects(resource.subresources).map((each) => ({ ...each, responseKind: each.responseKind ?? noKind }))
  return {
    ...resource,
    responseKind: resource.responseKind ?? noKind,
    ...(subresources.length > 0 ? { subresources } : {}),
  }
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
