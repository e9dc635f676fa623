import { createServer, type Socket } from 'node:net'
import { bind, urlHost } from './bind.ts'
import type { Listener, ListenOptions } from './interfaces.ts'
import { tlsFiles } from './tls.ts'

/**
 * Accepts connections for other processes to serve. Each connection is paused: send it with `ChildProcess.send(message, socket)`; the other
 * process hands it to `listen({ passed })`.
 *
 * `setClientAuthorities` of the result has no effect, because the serving processes terminate TLS. `close` only stops accepting.
 *
 * @throws HttpError `ListenFailed`, `InvalidTls`
 * @example
 * import { fork } from 'node:child_process'
 * import { acceptConnections, selfSigned } from '@krmkit/http'
 * const worker = fork('worker.js')
 * const pass = (socket: import('node:net').Socket) => worker.send('connection', socket)
 * await using accepting = await acceptConnections(pass, { port: 6443, tls: selfSigned('.krmkit/pki') })
 */
export async function acceptConnections(
  onConnection: (socket: Socket) => void,
  options: Pick<ListenOptions, 'host' | 'port' | 'tls'>,
): Promise<Listener> {
  const { host = '127.0.0.1', port = 0, tls } = options
  const files = tls === false ? undefined : await tlsFiles(tls, host)
  const server = createServer({ pauseOnConnect: true }, onConnection)
  const boundPort = await bind(server, { host, port })
  let closing: Promise<void> | undefined
  const close = () => {
    // No callback: it would wait for connections that other processes own.
    closing ??= new Promise((resolve) => {
      server.close()
      resolve()
    })
    return closing
  }
  return {
    url: `${tls === false ? 'http' : 'https'}://${urlHost(host)}:${boundPort}`,
    host,
    port: boundPort,
    authority: files?.authority,
    setClientAuthorities: () => undefined,
    close,
    [Symbol.asyncDispose]: close,
  }
}
