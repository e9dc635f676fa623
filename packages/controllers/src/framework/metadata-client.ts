import { type Client, createClient } from '@krmkit/client'
import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import type { Transport } from '@krmkit/protocol'

/**
 * Wraps a client so that every response holds only metadata. Closing it does not close the wrapped client.
 *
 * @example
 * import { Pod } from '@krmkit/kinds/core/v1'
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * import { createMetadataClient } from '@krmkit/controllers/framework'
 * import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
 * const client = createRemoteClient(await loadKubeconfig())
 * const metadata = createMetadataClient(client, { clock: systemClock, random: systemRandom, profile: stockProfile })
 * const pods = await metadata.list(Pod, { namespace: 'shop' }) // without spec and status
 */
export function createMetadataClient(
  client: Client,
  options: { readonly clock: Clock; readonly random: Random; readonly profile: NamingProfile },
): Client {
  const { profile, ...common } = options
  const accept = (as: string) => `application/json;as=${as};g=meta.${profile.apiDomain};v=v1,application/json`
  const ofObject = accept('PartialObjectMetadata')
  const ofList = accept('PartialObjectMetadataList')
  const transport: Transport = {
    async send({ method, path, query, headers, body, signal }) {
      // The wrapped client sets its own user agent.
      const { 'user-agent': _, ...ownHeaders } = headers
      const response = await client.request({
        method,
        path: query === '' ? path : `${path}?${query}`,
        headers: resourcePath.test(path)
          ? { ...ownHeaders, accept: respondsWithList(method, path, query) ? ofList : ofObject }
          : ownHeaders,
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      })
      return {
        status: response.status,
        headers: response.headers,
        body: response.stream(),
        get events() {
          return response.events
        },
      }
    },
    close: () => Promise.resolve(),
  }
  // The wrapped client already retries.
  return createClient(transport, { ...common, namespace: client.namespace, maxRetries: 0 })
}

const resourcePath = /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/./
const collectionPath = /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/(?!status$))?[^/]+$/

/**
 * Servers reject PartialObjectMetadata for a list response and PartialObjectMetadataList for a single object. Watches send
 * objects.
 */
function respondsWithList(method: string, path: string, query: string): boolean {
  if (!collectionPath.test(path)) return false
  return method === 'DELETE' || (method === 'GET' && !/(?:^|&)watch=(?:1|true)(?:&|$)/.test(query))
}
