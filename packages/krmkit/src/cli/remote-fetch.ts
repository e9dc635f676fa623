import type { Fetch } from '@krmkit/authentication'
import { type ConnectionOptions, remoteTransport, type Transport } from '@krmkit/client'

/** Carries requests to services outside, over connections that are kept. */
export interface RemoteFetch extends AsyncDisposable {
  readonly fetch: Fetch
}

/** @param connection what to trust and as whom to go; the server comes from each URL. */
export function createRemoteFetch(connection: Omit<ConnectionOptions, 'server'>): RemoteFetch {
  const transports = new Map<string, Transport>()
  const fetch: Fetch = async (url, init) => {
    const { origin, pathname, search } = new URL(url)
    let transport = transports.get(origin)
    if (transport === undefined) {
      transport = remoteTransport({ ...connection, server: origin })
      transports.set(origin, transport)
    }
    const response = await transport.send({
      method: init.method,
      path: pathname,
      query: search.slice(1),
      headers: init.headers,
      ...(init.body === undefined ? {} : { body: new TextEncoder().encode(init.body) }),
      signal: init.signal,
    })
    return {
      status: response.status,
      headers: {
        get(name) {
          const value = response.headers[name.toLowerCase()]
          return (typeof value === 'string' ? value : value?.[0]) ?? null
        },
      },
      body: response.body,
    }
  }
  return {
    fetch,
    async [Symbol.asyncDispose]() {
      await Promise.all([...transports.values()].map((transport) => transport.close()))
    },
  }
}
