import type { Fetch } from '@krmkit/authentication'
import { type ConnectionOptions, createRemoteTransport, type KubeconfigConnection, loadKubeconfig } from '@krmkit/client'
import type { Transport } from '@krmkit/protocol'
import { CliError, messageOf } from './cli-error.ts'

/** A `fetch` over persistent connections, for webhooks and token issuers. */
export interface RemoteFetch extends AsyncDisposable {
  readonly fetch: Fetch
}

/** @param connection trusted authorities and credentials; each request URL names the server. */
export function createRemoteFetch(connection: Omit<ConnectionOptions, 'server'>): RemoteFetch {
  const transports = new Map<string, Transport>()
  const fetch: Fetch = async (url, init) => {
    const { origin, pathname, search } = new URL(url)
    let transport = transports.get(origin)
    if (transport === undefined) {
      transport = createRemoteTransport({ ...connection, server: origin })
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

/** Reads the kubeconfig that a flag names. @throws CliError `FileFailed` */
export async function readKubeconfigFlag(path: string, flag: string): Promise<KubeconfigConnection> {
  try {
    return await loadKubeconfig({ path })
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `--${flag}: ${messageOf(cause)}`, cause })
  }
}
