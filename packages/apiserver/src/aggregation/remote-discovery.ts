import type { Clock, JsonObject, NamingProfile } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { readBodyText } from './body-text'
import { discoveredResources, listedResources } from './remote-resources.ts'
import type { FetchOptions, RemoteService } from './remote-service.ts'

/**
 * What other servers serve. A server that tells all at once is asked once for all its group versions, and again only whether that is
 * still so; of others each group version is asked for.
 */
export class RemoteDiscovery {
  readonly #options: { readonly clock: Clock; readonly profile: NamingProfile }
  readonly #cache = new Map<string, CachedDiscovery>()

  constructor(options: { readonly clock: Clock; readonly profile: NamingProfile }) {
    this.#options = options
  }

  /**
   * @returns undefined where the server does not mention the group version.
   * @throws Error when it cannot be asked.
   */
  async resources(
    remote: RemoteService,
    { group, version, signal }: { readonly group: string; readonly version: string; readonly signal: AbortSignal },
  ): Promise<readonly JsonObject[] | undefined> {
    const known = this.#cache.get(remote.id)
    const answer = await this.#fetch(remote, '/apis', {
      user: aggregatorUser,
      headers: { accept: this.#accept(), ...(known?.etag === undefined ? {} : { 'if-none-match': known.etag }) },
      signal,
    })
    if (answer.status === 304 && known !== undefined) return known.versions.get(`${group}/${version}`)
    if (answer.status === 503) throw new Error(`${remote.id} answered with 503`)
    if (answer.status === 200 && this.#isAggregated(answer)) {
      const etag = [answer.headers.etag ?? []].flat()[0]
      const versions = discoveredResources(answer.text)
      this.#cache.set(remote.id, { etag, versions })
      return versions.get(`${group}/${version}`)
    }
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const list = await this.#fetch(remote, path, { user: { ...aggregatorUser, groups: [] }, signal })
    if (list.status !== 200) throw new Error(`${remote.id}${path} answered with ${list.status}`)
    return listedResources(list.text)
  }

  /** Forgets servers that are no longer in use. */
  retain(places: ReadonlySet<string>): void {
    for (const place of [...this.#cache.keys()]) if (!places.has(place)) this.#cache.delete(place)
  }

  async #fetch(remote: RemoteService, path: string, question: FetchOptions): Promise<ApiResponse & { readonly text: string }> {
    const answer = await fetchText(remote, path, { ...question, clock: this.#options.clock, ms: discoveryMs })
    return answer
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

/** Whoever may see everything that there is. */
export const aggregatorUser = { username: 'system:kube-aggregator', groups: ['system:masters'] }

/** Asks, and reads the answer to its end. @throws Error when it takes longer than `ms`. */
export async function fetchText(
  remote: Pick<RemoteService, 'ask'>,
  path: string,
  { clock, ms, signal, ...question }: FetchOptions & { readonly clock: Clock; readonly ms: number },
): Promise<ApiResponse & { readonly text: string }> {
  const ended = new AbortController()
  const leave = (): void => ended.abort(signal.reason)
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  const cancel = clock.setTimeout(() => ended.abort(new Error('context deadline exceeded')), ms)
  try {
    const answer = await remote.fetch(path, { ...question, signal: ended.signal })
    return { ...answer, text: await readBodyText(answer, limitBytes) }
  } catch (error) {
    if (ended.signal.reason instanceof Error && !signal.aborted) throw ended.signal.reason
    throw error
  } finally {
    cancel()
    signal.removeEventListener('abort', leave)
  }
}
