import type { JsonObject } from '@krmkit/meta'

/** From the resource list of another server to the form in which all resources are told at once. */

interface Listed {
  readonly name: string
  readonly singularName?: string
  readonly namespaced?: boolean
  readonly group?: string
  readonly version?: string
  readonly kind: string
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** @throws Error for what is no list of resources. */
export function discoveredResources(text: string, { group, version }: { group: string; version: string }): JsonObject[] {
  const list = JSON.parse(text) as { kind?: unknown; resources?: unknown }
  if (list.kind !== 'APIResourceList' || !Array.isArray(list.resources)) throw new Error('the answer is no APIResourceList')
  const resources = new Map<string, JsonObject & { subresources?: JsonObject[] }>()
  const listed = (list.resources as Listed[]).filter(({ name, kind }) => typeof name === 'string' && typeof kind === 'string')
  const kindOf = (one: Listed): JsonObject => ({
    group: one.group ?? group,
    version: one.version ?? version,
    kind: one.kind,
  })
  for (const one of listed.filter(({ name }) => !name.includes('/'))) {
    resources.set(one.name, {
      resource: one.name,
      responseKind: kindOf(one),
      scope: one.namespaced === true ? 'Namespaced' : 'Cluster',
      singularResource: one.singularName ?? '',
      verbs: [...(one.verbs ?? [])],
      ...((one.shortNames ?? []).length > 0 ? { shortNames: [...(one.shortNames ?? [])] } : {}),
      ...((one.categories ?? []).length > 0 ? { categories: [...(one.categories ?? [])] } : {}),
    })
  }
  for (const one of listed) {
    const slash = one.name.indexOf('/')
    const owner = slash < 0 ? undefined : resources.get(one.name.slice(0, slash))
    if (owner === undefined) continue
    const subresource = { subresource: one.name.slice(slash + 1), responseKind: kindOf(one), verbs: [...(one.verbs ?? [])] }
    owner.subresources = [...(owner.subresources ?? []), subresource]
  }
  return [...resources.values()]
}
