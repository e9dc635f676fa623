import { type Client, createClient, type Transport } from '@krmkit/client'
import type { Clock, Random } from '@krmkit/meta'

const accept =
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'

/**
 * The same client, but every answer holds metadata alone: what those need who look at objects of all kinds. Closing it
 * does not close the client below.
 */
export function metadataClient(client: Client, options: { readonly clock: Clock; readonly random: Random }): Client {
  const transport: Transport = {
    async send({ method, path, query, headers, body, signal }) {
      // Who is calling is for the client below to say.
      const { 'user-agent': _, ...ownHeaders } = headers
      const response = await client.request({
        method,
        path: query === '' ? path : `${path}?${query}`,
        headers: ownHeaders,
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      })
      return { status: response.status, headers: response.headers, body: response.stream() }
    },
    close: () => Promise.resolve(),
  }
  // The client below has come back as often as it may when asked to.
  return createClient(transport, { ...options, headers: { accept }, namespace: client.namespace, maxRetries: 0 })
}
