import { request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ConnectionOptions as TlsOptions } from 'node:tls'
import { formatProxy, type ProxyAddress } from './proxy-url.ts'
import { connectSocks5 } from './socks5.ts'

/** Timeout for the proxy to connect to the server. */
const tunnelTimeoutMs = 60_000

export interface TunnelOptions {
  readonly proxy: ProxyAddress
  /** Address of the server. */
  readonly host: string
  readonly port: number
  /** TLS options for the connection to an `https` proxy. */
  readonly tls: TlsOptions
  readonly signal: AbortSignal
}

/**
 * Opens a connection to the server through the proxy, by CONNECT or SOCKS.
 *
 * @throws Error naming the proxy when it cannot be reached, refuses, or does not respond within a minute
 */
export async function openTunnel(options: TunnelOptions): Promise<Duplex> {
  const timeout = AbortSignal.timeout(tunnelTimeoutMs)
  const signal = AbortSignal.any([options.signal, timeout])
  try {
    return await (options.proxy.protocol === 'socks5' ? throughSocks(options, signal) : throughConnect(options, signal))
  } catch (cause) {
    const why = timeout.aborted ? 'it does not respond' : cause instanceof Error ? cause.message : String(cause)
    throw new Error(`proxy ${formatProxy(options.proxy)}: ${why}`, { cause })
  }
}

/** The value of Proxy-Authorization; undefined without credentials. */
export function proxyAuthorization({ credentials }: ProxyAddress): string | undefined {
  if (credentials === undefined) return undefined
  return `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`
}

async function throughSocks({ proxy, host, port }: TunnelOptions, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host: proxy.host, port: proxy.port, noDelay: true })
  const abort = () => socket.destroy(new Error('the connection was given up'))
  signal.addEventListener('abort', abort, { once: true })
  try {
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    await connectSocks5(socket, { host, port, credentials: proxy.credentials })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function throughConnect({ proxy, host, port, tls }: TunnelOptions, signal: AbortSignal): Promise<Duplex> {
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
  const authorization = proxyAuthorization(proxy)
  const requestOptions: RequestOptions = {
    method: 'CONNECT',
    host: proxy.host,
    port: proxy.port,
    path: authority,
    agent: false,
    signal,
    headers: { host: authority, ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }) },
  }
  return new Promise((resolve, reject) => {
    const request = proxy.protocol === 'https' ? httpsRequest({ ...requestOptions, ...tls }) : httpRequest(requestOptions)
    request.once('error', reject)
    request.once('connect', (response, socket, head) => {
      if (response.statusCode !== undefined && response.statusCode >= 200 && response.statusCode < 300) {
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
        return
      }
      socket.destroy()
      reject(new Error(`it responds with ${response.statusCode} ${response.statusMessage ?? ''}`.trimEnd()))
    })
    request.end()
  })
}
