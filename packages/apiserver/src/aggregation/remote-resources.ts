import { isJsonObject, type JsonObject } from '@krmkit/meta'

/** Discovery documents of other servers, converted to `APIResourceDiscovery` objects. */

type ListedResource = Readonly<Record<string, unknown>> & { readonly name: string }

/**
 * Converts the `APIResourceList` of a group version.
 *
 * @throws Error for another kind of document, or for contradictory scopes.
 */
export function listedResources(text: string): JsonObject[] {
  const list = JSON.parse(text) as { kind?: unknown; resources?: unknown } | null
  if (list?.kind !== 'APIResourceList' || !Array.isArray(list.resources ?? []))
    throw new Error('the response is not an APIResourceList')
  const listed = objectsOf(list.resources).filter((each): each is JsonObject & ListedResource => typeof each.name === 'string')
  const resources = new Map<string, JsonObject & { subresources?: JsonObject[] }>()
  for (const one of listed) if (!one.name.includes('/')) resources.set(one.name, resourceOf(one))
  for (const one of listed) {
    const slash = one.name.indexOf('/')
    if (slash < 0) continue
    const name = one.name.slice(0, slash)
    const owner = resources.get(name) ?? { resource: name, responseKind: noKind, scope: scopeOf(one), verbs: null }
    if (owner.scope !== scopeOf(one)) throw new Error(`the scopes of ${name} and ${one.name} do not match`)
    resources.set(name, owner)
    const subresource = { subresource: one.name.slice(slash + 1), responseKind: kindOf(one), verbs: strings(one.verbs) }
    owner.subresources = [...(owner.subresources ?? []), subresource]
  }
  return [...resources.values()]
}

const noKind: JsonObject = { group: '', version: '', kind: '' }

/** Empty group and version mean those of the list. */
function kindOf({ group, version, kind }: Readonly<Record<string, unknown>>): JsonObject {
  return { group: text(group), version: text(version), kind: text(kind) }
}

function scopeOf({ namespaced }: ListedResource): string {
  return namespaced === true ? 'Namespaced' : 'Cluster'
}

function resourceOf(one: ListedResource): JsonObject {
  return {
    resource: one.name,
    responseKind: kindOf(one),
    scope: scopeOf(one),
    singularResource: text(one.singularName),
    verbs: strings(one.verbs),
    ...names(one),
  }
}

function names({ shortNames, categories }: Readonly<Record<string, unknown>>): JsonObject {
  const short = strings(shortNames)
  const groups = strings(categories)
  return { ...(short.length > 0 ? { shortNames: short } : {}), ...(groups.length > 0 ? { categories: groups } : {}) }
}

/**
 * Reads an `APIGroupDiscoveryList`: resources by `group/version`.
 *
 * @throws Error for another kind of document.
 */
export function discoveredResources(text: string): ReadonlyMap<string, readonly JsonObject[]> {
  const list = JSON.parse(text) as { kind?: unknown; items?: unknown } | null
  if (list?.kind !== 'APIGroupDiscoveryList' || !Array.isArray(list.items ?? [])) {
    throw new Error('the response is not an APIGroupDiscoveryList')
  }
  const found = new Map<string, readonly JsonObject[]>()
  for (const group of objectsOf(list.items)) {
    const name = isJsonObject(group.metadata) && typeof group.metadata.name === 'string' ? group.metadata.name : ''
    for (const version of objectsOf(group.versions)) {
      if (typeof version.version === 'string')
        found.set(`${name}/${version.version}`, objectsOf(version.resources).map(discoveredResource))
    }
  }
  return found
}

/** Copies known members only. `responseKind` is always set, because some clients fail without it. */
function discoveredResource(resource: JsonObject): JsonObject {
  const subresources = objectsOf(resource.subresources).map((each) => {
    const accepted = objectsOf(each.acceptedTypes).map(kindOf)
    return {
      subresource: text(each.subresource),
      responseKind: isJsonObject(each.responseKind) ? kindOf(each.responseKind) : noKind,
      ...(accepted.length > 0 ? { acceptedTypes: accepted } : {}),
      verbs: strings(each.verbs),
    }
  })
  return {
    resource: text(resource.resource),
    responseKind: isJsonObject(resource.responseKind) ? kindOf(resource.responseKind) : noKind,
    scope: text(resource.scope),
    singularResource: text(resource.singularResource),
    verbs: strings(resource.verbs),
    ...names(resource),
    ...(subresources.length > 0 ? { subresources } : {}),
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
