import { isIP, type Socket } from 'node:net'

/** The client side of SOCKS version 5, with or without a username and password. */

export interface SocksTarget {
  readonly host: string
  readonly port: number
  readonly credentials: { readonly username: string; readonly password: string } | undefined
}

const version = 5
const passwordVersion = 1
const connect = 1
const withoutAuthentication = 0
const withPassword = 2
const address = { ipv4: 1, name: 3, ipv6: 4 } as const

/** Reply codes of RFC 1928, section 6. */
const failures: Readonly<Record<number, string>> = {
  1: 'general failure',
  2: 'the connection is not allowed',
  3: 'the network is unreachable',
  4: 'the host is unreachable',
  5: 'the connection was refused',
  6: 'the time to live expired',
  7: 'the command is not supported',
  8: 'the address type is not supported',
}

/**
 * Asks the proxy at the other end of a connected socket for a connection to the target. Names are resolved by the proxy. Afterwards the
 * socket carries the bytes of the target.
 *
 * @throws Error when the proxy refuses or violates the protocol
 * @see RFC 1928, RFC 1929
 */
export async function connectSocks5(socket: Socket, target: SocksTarget): Promise<void> {
  const { credentials, host, port } = target
  const methods = credentials === undefined ? [withoutAuthentication] : [withoutAuthentication, withPassword]
  socket.write(Uint8Array.from([version, methods.length, ...methods]))
  const [offered, method] = await read(socket, 2)
  if (offered !== version) throw new Error('the proxy does not speak SOCKS version 5')
  if (method === withPassword && credentials !== undefined) await authenticate(socket, credentials)
  else if (method !== withoutAuthentication) throw new Error('the proxy accepts no offered authentication method')
  socket.write(
    Buffer.concat([Uint8Array.from([version, connect, 0]), addressOf(host), Uint8Array.from([port >> 8, port & 0xff])]),
  )
  const [answered, reply = 0, , type] = await read(socket, 4)
  if (answered !== version) throw new Error('the proxy does not speak SOCKS version 5')
  if (reply !== 0) throw new Error(failures[reply] ?? `failure ${reply}`)
  // Skips the address and port from which the proxy connects.
  await read(socket, (await lengthOf(socket, type)) + 2)
}

async function authenticate(socket: Socket, credentials: NonNullable<SocksTarget['credentials']>): Promise<void> {
  const [name, password] = [credentials.username, credentials.password].map((text) => {
    const bytes = Buffer.from(text)
    if (bytes.length > 255) throw new Error('the username or the password is longer than 255 bytes')
    return Buffer.concat([Uint8Array.from([bytes.length]), bytes])
  }) as [Buffer, Buffer]
  socket.write(Buffer.concat([Uint8Array.from([passwordVersion]), name, password]))
  const [, status] = await read(socket, 2)
  if (status !== 0) throw new Error('the proxy rejects the username or the password')
}

function addressOf(host: string): Uint8Array {
  const family = isIP(host)
  if (family === 4) return Uint8Array.from([address.ipv4, ...host.split('.').map(Number)])
  if (family === 6) return Uint8Array.from([address.ipv6, ...ipv6Bytes(host)])
  const name = Buffer.from(host)
  if (name.length > 255) throw new Error('the name of the server is longer than 255 bytes')
  return Buffer.concat([Uint8Array.from([address.name, name.length]), name])
}

function ipv6Bytes(host: string): number[] {
  // The URL parser converts an embedded IPv4 address to hexadecimal, but does not expand `::`.
  const { hostname } = new URL(`http://[${host}]`)
  const [head = '', tail] = hostname.slice(1, -1).split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const [before, after] = [groups(head), groups(tail ?? '')]
  const zeros = new Array<number>(tail === undefined ? 0 : 8 - before.length - after.length).fill(0)
  return [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff])
}

async function lengthOf(socket: Socket, type: number | undefined): Promise<number> {
  if (type === address.ipv4) return 4
  if (type === address.ipv6) return 16
  if (type === address.name) return (await read(socket, 1))[0] ?? 0
  throw new Error('the proxy violates the protocol')
}

/** Reads exactly `length` bytes and leaves the rest in the socket. */
function read(socket: Socket, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      socket.off('readable', onReadable).off('error', onError).off('close', onClose).off('end', onClose)
      settle()
    }
    const onError = (error: Error) => finish(() => reject(error))
    const onClose = () => finish(() => reject(new Error('the proxy closed the connection')))
    const onReadable = () => {
      const bytes = socket.read(length) as Buffer | null
      if (bytes !== null) finish(() => (bytes.length === length ? resolve(bytes) : onClose()))
    }
    socket.on('readable', onReadable).on('error', onError).on('close', onClose).on('end', onClose)
    onReadable()
  })
}
