import type { Client, RawResponse, ResourceType } from '@krmkit/client'
import { ApiError, type NamingProfile, type Status } from '@krmkit/meta'

/** A discovered resource. */
export interface DiscoveredResource extends ResourceType {
  readonly verbs: ReadonlySet<string>
  readonly subresources: ReadonlySet<string>
}

/** The resources that a server serves at one moment. */
export interface Discovery {
  /** All resources at all versions. */
  readonly all: readonly DiscoveredResource[]
  /** Each resource once, at the most preferred version of its group that serves the resource. */
  readonly preferred: readonly DiscoveredResource[]
  /** Reasons for failed discovery by `group/version`. */
  readonly failures: ReadonlyMap<string, string>
  /** Returns the resource of an API version and kind, the coordinates of owner references. */
  ofKind(apiVersion: string, kind: string): DiscoveredResource | undefined
}

/**
 * Discovers the resources of a server: in two requests with aggregated discovery, or else one per group version.
 *
 * @example
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * import { discover } from '@krmkit/controllers/framework'
 * import { stockProfile } from '@krmkit/meta'
 * const client = createRemoteClient(await loadKubeconfig())
 * const { signal } = new AbortController()
 * const discovery = await discover(client, { profile: stockProfile, signal })
 * discovery.ofKind('apps/v1', 'Deployment')?.resource // 'deployments'
 */
export async function discover(
  client: Client,
  options: { readonly profile: NamingProfile; readonly signal: AbortSignal },
): Promise<Discovery> {
  const { profile, signal } = options
  const accept = `application/json;g=apidiscovery.${profile.apiDomain};v=v2;as=APIGroupDiscoveryList,application/json`
  const failures = new Map<string, string>()
  const all: DiscoveredResource[] = []
  for (const path of ['/api', '/apis']) {
    const response = await client.request({ path, headers: { accept }, signal })
    if (response.status === 404) continue
    const document = (await readJson(response)) as Document
    if (document.kind === 'APIGroupDiscoveryList') all.push(...readAggregated(document, failures))
    else all.push(...(await discoverByVersion(client, { document, failures, signal })))
  }
  return indexResources(all, failures)
}

interface Document {
  readonly kind: string
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string }
    readonly versions?: readonly {
      readonly version: string
      readonly freshness?: string
      readonly resources?: readonly AggregatedResource[]
    }[]
  }[]
  /** Field of `APIVersions`. */
  readonly versions?: readonly string[]
  /** Field of `APIGroupList`. */
  readonly groups?: readonly {
    readonly name: string
    readonly versions: readonly { readonly version: string }[]
    readonly preferredVersion?: { readonly version: string }
  }[]
}

interface AggregatedResource {
  readonly resource: string
  readonly responseKind?: { readonly kind: string }
  readonly scope: string
  readonly verbs?: readonly string[]
  readonly subresources?: readonly { readonly subresource: string }[]
}

interface PlainResource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs?: readonly string[]
}

function* readAggregated(document: Document, failures: Map<string, string>): Generator<DiscoveredResource> {
  for (const { metadata = {}, versions = [] } of document.items ?? []) {
    const group = metadata.name ?? ''
    for (const { version, freshness, resources = [] } of versions) {
      if (freshness === 'Stale') failures.set(groupVersionOf(group, version), 'the discovery document is stale')
      for (const { resource, responseKind, scope, verbs = [], subresources = [] } of resources) {
        if (responseKind === undefined) continue
        yield {
          group,
          version,
          resource,
          kind: responseKind.kind,
          namespaced: scope === 'Namespaced',
          verbs: new Set(verbs),
          subresources: new Set(subresources.map(({ subresource }) => subresource)),
        }
      }
    }
  }
}

async function discoverByVersion(
  client: Client,
  context: { readonly document: Document; readonly failures: Map<string, string>; readonly signal: AbortSignal },
): Promise<DiscoveredResource[]> {
  const { document, failures, signal } = context
  const groups = document.groups ?? [{ name: '', versions: (document.versions ?? []).map((version) => ({ version })) }]
  const found: DiscoveredResource[] = []
  for (const { name: group, versions, ...rest } of groups) {
    const preferred = 'preferredVersion' in rest ? rest.preferredVersion?.version : undefined
    const ordered = [...versions].sort((a, b) => Number(b.version === preferred) - Number(a.version === preferred))
    for (const { version } of ordered) {
      try {
        const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
        const list = (await readJson(await client.request({ path, signal }))) as { readonly resources?: readonly PlainResource[] }
        found.push(...plainResources({ group, version }, list.resources ?? []))
      } catch (error) {
        if (signal.aborted) throw error
        failures.set(groupVersionOf(group, version), error instanceof Error ? error.message : String(error))
      }
    }
  }
  return found
}

function* plainResources(
  { group, version }: { readonly group: string; readonly version: string },
  resources: readonly PlainResource[],
): Generator<DiscoveredResource> {
  const subresources = new Map<string, Set<string>>()
  for (const { name } of resources) {
    const [resource = '', subresource] = name.split('/')
    if (!subresources.has(resource)) subresources.set(resource, new Set())
    if (subresource !== undefined) subresources.get(resource)!.add(subresource)
  }
  for (const { name, kind, namespaced, verbs = [] } of resources) {
    if (name.includes('/')) continue
    yield { group, version, resource: name, kind, namespaced, verbs: new Set(verbs), subresources: subresources.get(name)! }
  }
}

async function readJson(response: RawResponse): Promise<unknown> {
  const value = await response.json()
  if (response.status < 400) return value
  throw new ApiError(value as Status)
}

function indexResources(all: readonly DiscoveredResource[], failures: ReadonlyMap<string, string>): Discovery {
  const preferred = new Map<string, DiscoveredResource>()
  const kinds = new Map<string, DiscoveredResource>()
  for (const resource of all) {
    const key = `${resource.group}/${resource.resource}`
    if (!preferred.has(key)) preferred.set(key, resource)
    const kind = `${groupVersionOf(resource.group, resource.version)} ${resource.kind}`
    // Virtual resources, such as pod bindings, share their kind with stored resources.
    if (!kinds.has(kind) || !kinds.get(kind)!.verbs.has('get')) kinds.set(kind, resource)
  }
  return {
    all,
    preferred: [...preferred.values()],
    failures,
    ofKind: (apiVersion, kind) => kinds.get(`${apiVersion} ${kind}`),
  }
}

function groupVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}
