import { connect, type TLSSocket } from 'node:tls'
import type { IssuedCertificate } from '@krmkit/authentication/testing'

/** Raw HTTP/1.1: bytes are sent unchanged, valid or not. */

export type RawHeader = readonly [name: string, value: Uint8Array]

export interface RawRequest {
  readonly method: string
  readonly target: string
  readonly headers: readonly RawHeader[]
  readonly body?: Uint8Array
}

export interface RawAnswer {
  /** 0: the connection was closed or the stream reset without a response. */
  readonly status: number
  readonly text: string
}

export interface RawOptions {
  readonly port: number
  readonly certificate?: IssuedCertificate | undefined
  readonly timeoutMs?: number
}

export function openTls(options: RawOptions, protocol: 'http/1.1' | 'h2'): Promise<TLSSocket> {
  const { port, certificate } = options
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: '127.0.0.1',
      port,
      // The server's certificate was just created and is self-signed.
      rejectUnauthorized: false,
      ALPNProtocols: [protocol],
      ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
    })
    socket.setNoDelay(true)
    socket.once('secureConnect', () => resolve(socket))
    socket.once('error', reject)
  })
}

/** Sends one request on a new connection. */
export async function sendHttp1(request: RawRequest, options: RawOptions): Promise<RawAnswer> {
  const socket = await openTls(options, 'http/1.1')
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    const finish = () => {
      clearTimeout(late)
      socket.destroy()
      resolve(parseAnswer(Buffer.concat(parts).toString('utf8')))
    }
    const late = setTimeout(finish, options.timeoutMs ?? 10_000)
    socket.on('data', (part: Buffer) => parts.push(part))
    socket.on('error', finish)
    socket.on('close', finish)
    socket.write(http1Bytes(request))
  })
}

export function http1Bytes({ method, target, headers, body = new Uint8Array(0) }: RawRequest): Uint8Array {
  const head = `${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n`
  const lines = headers.flatMap(([name, value]) => [Buffer.from(`${name}: `, 'latin1'), value, newLine])
  return Buffer.concat([Buffer.from(head, 'latin1'), ...lines, newLine, body])
}

const newLine = Buffer.from('\r\n')

function parseAnswer(text: string): RawAnswer {
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0)
  const end = text.indexOf('\r\n\r\n')
  return { status, text: end < 0 ? '' : text.slice(end + 4) }
}
