import type { Cluster } from './cluster.ts'

/** The resources of the server, by the names that people type. */

export interface ServedResource {
  readonly group: string
  readonly version: string
  /** Plural name. */
  readonly name: string
  readonly singularName: string
  readonly shortNames: readonly string[]
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  readonly categories: readonly string[]
  readonly subresources: readonly string[]
}

interface ApiResource {
  readonly name: string
  readonly singularName?: string
  readonly namespaced: boolean
  readonly kind: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** Reads the resources of all groups in their preferred order; the core group comes first. */
export async function readResources(cluster: Cluster): Promise<ServedResource[]> {
  const groups = await cluster.read<{ groups: { name: string; versions: { version: string }[] }[] }>('/apis')
  const versions = [
    { group: '', version: 'v1' },
    ...groups.groups.flatMap(({ name, versions: served }) => served.map(({ version }) => ({ group: name, version }))),
  ]
  const found: ServedResource[] = []
  for (const { group, version } of versions) {
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const { resources = [] } = await cluster.read<{ resources?: ApiResource[] }>(path)
    for (const each of resources.filter(({ name }) => !name.includes('/'))) {
      const subresources = resources
        .filter(({ name }) => name.startsWith(`${each.name}/`))
        .map(({ name }) => name.slice(each.name.length + 1))
      const { name, singularName = '', shortNames = [], kind, namespaced, verbs, categories = [] } = each
      found.push({ group, version, name, singularName, shortNames, kind, namespaced, verbs, categories, subresources })
    }
  }
  return found
}

/** Finds `pods`, `po`, `Pod`, `deployments.apps` or `deployments.v1.apps`. */
export function findResource(resources: readonly ServedResource[], text: string): ServedResource | undefined {
  const dot = text.indexOf('.')
  const word = (dot === -1 ? text : text.slice(0, dot)).toLowerCase()
  const group = dot === -1 ? undefined : text.slice(dot + 1)
  const isCalled = ({ name, singularName, shortNames, kind }: ServedResource) =>
    name === word || singularName === word || shortNames.includes(word) || kind.toLowerCase() === word
  return resources.find(
    (each) => isCalled(each) && (group === undefined || group === each.group || group === `${each.version}.${each.group}`),
  )
}

/** Finds the resource of a kind. */
export function resourceOfKind(
  resources: readonly ServedResource[],
  apiVersion: string,
  kind: string,
): ServedResource | undefined {
  return resources.find((each) => apiVersionOf(each) === apiVersion && each.kind === kind)
}

export function apiVersionOf({ group, version }: Pick<ServedResource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`
}

/** The path of a collection or object. */
export function pathOf(resource: ServedResource, { namespace, name, subresource }: ObjectPlace): string {
  const { group, version, namespaced } = resource
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const parts = [
    ...(namespaced && namespace !== undefined ? ['namespaces', namespace] : []),
    resource.name,
    ...(name === undefined ? [] : [name]),
    ...(subresource === undefined ? [] : [subresource]),
  ]
  return `${root}/${parts.map(encodeURIComponent).join('/')}`
}

export interface ObjectPlace {
  /** Absent: all namespaces. */
  readonly namespace?: string
  /** Absent: the collection. */
  readonly name?: string
  readonly subresource?: string
}
