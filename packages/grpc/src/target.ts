/** The address of a server. */
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** PEM texts for TLS. */
export interface RpcTls {
  /** Certificate authorities of the servers; absent: those of the system. */
  readonly ca?: string | Uint8Array
  /** Certificate that authenticates the client, with `key`. */
  readonly certificate?: string | Uint8Array
  readonly key?: string | Uint8Array
}

export interface Target {
  readonly scheme: 'http' | 'https'
  /** The `:authority` of requests. */
  readonly authority: string
  /** Rejects when the server cannot be reached, or its certificate is not accepted. */
  connect(timeoutMs: number): Promise<Socket>
}

/**
 * @param url `https://host:port`, `http://host:port`, `unix:///path`, `unix-abstract:name`; or `dns:///host:port` and `host:port`, which
 *   use TLS when `tls` is given
 * @throws TypeError
 */
export function parseTarget(url: string, tls: RpcTls | undefined): Target {
  const [, isAbstract, socketPath] = /^unix(-abstract)?:(?:\/\/)?(.*)$/s.exec(url) ?? []
  if (socketPath !== undefined) {
    const path = isAbstract === undefined ? socketPath : `\0${socketPath}`
    return {
      scheme: 'http',
      authority: 'localhost',
      connect: (timeoutMs) => connected(connectTcp({ path }), 'connect', timeoutMs),
    }
  }
  const address = url.replace(/^dns:(\/\/[^/]*\/)?/, '')
  const { protocol, hostname, port, host } = new URL(
    address.includes('://') ? address : `${tls === undefined ? 'http' : 'https'}://${address}`,
  )
  if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError(`unknown scheme of the endpoint ${url}`)
  const isPlain = protocol === 'http:'
  const to = { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? (isPlain ? 80 : 443) : Number(port) }
  if (isPlain) {
    return { scheme: 'http', authority: host, connect: (timeoutMs) => connected(connectTcp(to), 'connect', timeoutMs) }
  }
  const secrets = {
    ...(tls?.ca === undefined ? {} : { ca: pem(tls.ca) }),
    ...(tls?.certificate === undefined ? {} : { cert: pem(tls.certificate) }),
    ...(tls?.key === undefined ? {} : { key: pem(tls.key) }),
    // Server name indication allows names only, no addresses.
    ...(isIP(to.host) === 0 ? { servername: to.host } : {}),
  }
  return {
    scheme: 'https',
    authority: host,
    async connect(timeoutMs) {
      const socket = connectTls({ ...to, ...secrets, ALPNProtocols: ['h2'] })
      await connected(socket, 'secureConnect', timeoutMs)
      if (socket.alpnProtocol === 'h2') return socket
      socket.destroy()
      throw new Error('the server does not speak HTTP/2')
    },
  }
}

function pem(text: string | Uint8Array): string | Buffer {
  return typeof text === 'string' ? text : Buffer.from(text)
}

function connected(socket: Socket, event: 'connect' | 'secureConnect', timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const onTimeout = () => socket.destroy(new Error('the connection was not established in time'))
    const onClose = () => reject(new Error('the connection was closed'))
    socket.setTimeout(timeoutMs, onTimeout)
    socket.once('error', reject)
    socket.once('close', onClose)
    socket.once(event, () => {
      socket.setTimeout(0)
      socket.off('timeout', onTimeout)
      socket.off('error', reject)
      socket.off('close', onClose)
      resolve(socket)
    })
  })
}
