import { createServer, type IncomingMessage, request } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net'

/** Proxies for tests. They connect to loopback regardless of the requested name. */
export interface FakeProxy extends AsyncDisposable {
  readonly port: number
  /** Requested targets, with credentials if the client sent any: `CONNECT host:443 user:password`. */
  readonly seen: string[]
}

/** A proxy that tunnels CONNECT and forwards other requests; over TLS with a certificate. Requires credentials when given. */
export function fakeHttpProxy(options: { cert?: string; key?: string; credentials?: string } = {}): Promise<FakeProxy> {
  const seen: string[] = []
  const { cert, key, credentials } = options
  const server = cert === undefined || key === undefined ? createServer() : createSecureServer({ cert, key })
  const note = (message: IncomingMessage) => {
    const header = /^Basic (.*)$/.exec(message.headers['proxy-authorization'] ?? '')?.[1]
    const given = header === undefined ? undefined : Buffer.from(header, 'base64').toString()
    seen.push([message.method, message.url, ...(given === undefined ? [] : [given])].join(' '))
    return given === credentials
  }
  server.on('connect', (message: IncomingMessage, near: Socket) => {
    if (!note(message)) {
      near.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n')
      return
    }
    const far = connect(Number(message.url?.split(':').at(-1)), '127.0.0.1', () => near.write('HTTP/1.1 200 OK\r\n\r\n'))
    join(near, far)
  })
  server.on('request', (message, response) => {
    if (!note(message)) {
      response.writeHead(407).end()
      return
    }
    const { port, pathname, search } = new URL(message.url ?? '')
    const { 'proxy-authorization': _, ...headers } = message.headers
    const further = request({ host: '127.0.0.1', port, method: message.method, path: pathname + search, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    message.pipe(further)
  })
  return started(server, seen)
}

/** A SOCKS 5 proxy. Requires credentials when given. */
export function fakeSocksProxy(options: { credentials?: string; reply?: number } = {}): Promise<FakeProxy> {
  const seen: string[] = []
  const { credentials, reply = 0 } = options
  const server = createTcpServer((near) => void serveSocks(near).catch(() => near.destroy()))
  const serveSocks = async (near: Socket) => {
    const [, count = 0] = await take(near, 2)
    const methods = [...(await take(near, count))]
    const method = credentials === undefined ? 0 : 2
    near.write(Uint8Array.from([5, methods.includes(method) ? method : 255]))
    let given: string | undefined
    if (method === 2) {
      const name = await take(near, (await take(near, 2))[1] ?? 0)
      const password = await take(near, (await take(near, 1))[0] ?? 0)
      given = `${name}:${password}`
      near.write(Uint8Array.from([1, given === credentials ? 0 : 1]))
    }
    const type = (await take(near, 4))[3]
    const length = type === 1 ? 4 : type === 4 ? 16 : ((await take(near, 1))[0] ?? 0)
    const address = await take(near, length)
    const port = (await take(near, 2)).readUInt16BE()
    const host = type === 3 ? String(address) : type === 1 ? [...address].join('.') : address.toString('hex')
    seen.push([`${host}:${port}`, ...(given === undefined ? [] : [given])].join(' '))
    const far = connect(port, '127.0.0.1', () => {
      near.write(Uint8Array.from([5, reply, 0, 1, 127, 0, 0, 1, 0, 0]))
      if (reply === 0) join(near, far)
      else near.end()
    })
  }
  return started(server, seen)
}

/** Accepts connections and never responds. */
export function silentProxy(): Promise<FakeProxy> {
  return started(createTcpServer(), [])
}

function join(near: Socket, far: Socket): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    from.pipe(to)
    from.on('error', () => to.destroy()).on('close', () => to.destroy())
  }
}

async function take(socket: Socket, length: number): Promise<Buffer> {
  for (;;) {
    const bytes = length === 0 ? Buffer.alloc(0) : (socket.read(length) as Buffer | null)
    if (bytes !== null) return bytes
    await new Promise((resolve, reject) => socket.once('readable', resolve).once('close', reject))
  }
}

async function started(server: Server, seen: string[]): Promise<FakeProxy> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
