import type { Clock, JsonObject, NamingProfile } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { createDeadline } from '../request/deadline.ts'
import { groupVersionPath } from '../request/info.ts'
import { readBodyText } from './body-text.ts'
import { discoveredResources, listedResources } from './remote-resources.ts'
import type { FetchOptions, RemoteService } from './remote-service.ts'

/**
 * Discovery of other servers. A server with aggregated discovery is fetched once for all its group versions and revalidated by ETag;
 * from others, the resource list of each group version is fetched.
 */
export class RemoteDiscovery {
  readonly #options: { readonly clock: Clock; readonly profile: NamingProfile }
  readonly #cache = new Map<string, CachedDiscovery>()

  constructor(options: { readonly clock: Clock; readonly profile: NamingProfile }) {
    this.#options = options
  }

  /**
   * @returns undefined when the server does not list the group version.
   * @throws Error when the server cannot be reached or its response is invalid.
   */
  async resources(
    remote: RemoteService,
    { group, version, signal }: { readonly group: string; readonly version: string; readonly signal: AbortSignal },
  ): Promise<readonly JsonObject[] | undefined> {
    const cached = this.#cache.get(remote.id)
    const response = await this.#fetch(remote, '/apis', {
      user: aggregatorUser,
      headers: { accept: this.#accept(), ...(cached?.etag === undefined ? {} : { 'if-none-match': cached.etag }) },
      signal,
    })
    if (response.status === 304 && cached !== undefined) return cached.versions.get(`${group}/${version}`)
    if (response.status === 503) throw new Error(`${remote.id} responded with status 503`)
    if (response.status === 200 && this.#isAggregated(response)) {
      const etag = [response.headers.etag ?? []].flat()[0]
      const versions = discoveredResources(response.text)
      this.#cache.set(remote.id, { etag, versions })
      return versions.get(`${group}/${version}`)
    }
    const path = groupVersionPath(group, version)
    const list = await this.#fetch(remote, path, { user: { ...aggregatorUser, groups: [] }, signal })
    if (list.status !== 200) throw new Error(`${remote.id}${path} responded with status ${list.status}`)
    return listedResources(list.text)
  }

  /** Drops the cache entries of all other servers. */
  retain(ids: ReadonlySet<string>): void {
    for (const id of [...this.#cache.keys()]) if (!ids.has(id)) this.#cache.delete(id)
  }

  #fetch(remote: RemoteService, path: string, options: FetchOptions): Promise<ApiResponse & { readonly text: string }> {
    return fetchText(remote, path, { ...options, clock: this.#options.clock, ms: discoveryMs })
  }

  #accept(): string {
    return versions.map((version) => `application/json;${this.#parameters(version)}`).join(',')
  }

  #parameters(version: string): string {
    return `g=apidiscovery.${this.#options.profile.apiDomain};v=${version};as=APIGroupDiscoveryList`
  }

  #isAggregated({ headers }: ApiResponse): boolean {
    const type = [headers['content-type'] ?? ''].flat()[0] ?? ''
    const parameters = new Set(type.split(';').map((part) => part.trim()))
    return versions.some((version) =>
      this.#parameters(version)
        .split(';')
        .every((each) => parameters.has(each)),
    )
  }
}

interface CachedDiscovery {
  readonly etag: string | undefined
  readonly versions: ReadonlyMap<string, readonly JsonObject[]>
}

const versions = ['v2', 'v2beta1']
const discoveryMs = 5_000
const limitBytes = 16 * 1024 * 1024

/** The user of aggregated discovery and of availability checks. */
export const aggregatorUser = { username: 'system:kube-aggregator', groups: ['system:masters'] }

/** Sends a GET request and reads the whole response body. @throws Error when that takes longer than `ms`. */
export async function fetchText(
  remote: Pick<RemoteService, 'fetch'>,
  path: string,
  { clock, ms, signal, ...options }: FetchOptions & { readonly clock: Clock; readonly ms: number },
): Promise<ApiResponse & { readonly text: string }> {
  const deadline = createDeadline({ clock, ms, parent: signal })
  try {
    const response = await remote.fetch(path, { ...options, signal: deadline.signal })
    return { ...response, text: await readBodyText(response, limitBytes) }
  } catch (error) {
    if (deadline.isExceeded && !signal.aborted) throw deadline.signal.reason
    throw error
  } finally {
    deadline.release()
  }
}
