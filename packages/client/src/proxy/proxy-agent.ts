import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import { type ConnectionOptions as TlsOptions, connect as tlsConnect } from 'node:tls'
import type { ProxyAddress } from './proxy-url.ts'
import { openTunnel } from './tunnel.ts'

export interface ProxyAgentOptions {
  readonly proxy: ProxyAddress
  /** Address of the server. */
  readonly host: string
  readonly port: number
  /** TLS options for an `https` proxy. */
  readonly proxyTls: TlsOptions
  /** TLS options for the server; undefined for an HTTP server. */
  readonly serverTls: TlsOptions | undefined
  /** Aborts connections that are not established yet. */
  readonly signal: AbortSignal
}

const keepAlive = { keepAlive: true, maxFreeSockets: 64, noDelay: true } as const

/**
 * Creates an agent whose connections lead through a proxy. With `forwardsRequests` they end at the proxy, and requests name the URL of
 * the server.
 */
export function createProxyAgent(options: ProxyAgentOptions): HttpAgent {
  const { proxy, proxyTls, serverTls } = options
  if (!forwardsRequests(proxy, { secure: serverTls !== undefined })) {
    const agent = serverTls === undefined ? new HttpAgent(keepAlive) : new HttpsAgent(keepAlive)
    // Returns no connection, so that Node waits for the callback.
    agent.createConnection = (_request, callback) => void connectThrough(options, callback as OnConnected)
    return agent
  }
  const address = { ...keepAlive, host: proxy.host, port: proxy.port }
  return proxy.protocol === 'https' ? new HttpsAgent({ ...address, ...proxyTls }) : new HttpAgent(address)
}

/** Whether requests are sent to the proxy instead of through a tunnel: for an HTTP server behind an HTTP proxy. */
export function forwardsRequests({ protocol }: ProxyAddress, server: { readonly secure: boolean }): boolean {
  return protocol !== 'socks5' && !server.secure
}

type OnConnected = (error: Error | null, connection?: Duplex) => void

async function connectThrough({ proxyTls, serverTls, ...target }: ProxyAgentOptions, done: OnConnected): Promise<void> {
  let tunnel: Duplex
  try {
    tunnel = await openTunnel({ ...target, tls: proxyTls })
  } catch (error) {
    done(error as Error)
    return
  }
  if (serverTls === undefined) {
    done(null, tunnel)
    return
  }
  const secured = tlsConnect({ ...serverTls, host: target.host, socket: tunnel })
  const onError = (error: Error) => {
    tunnel.destroy()
    done(error)
  }
  secured.once('error', onError)
  secured.once('secureConnect', () => {
    secured.off('error', onError)
    done(null, secured)
  })
}
