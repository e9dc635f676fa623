import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { forwardTo } from './forward-to.ts'

async function greeter() {
  const server = createServer((socket) => void socket.once('data', (name) => socket.end(`hello ${name}`)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, close: () => new Promise((resolve) => server.close(resolve)) }
}

async function greet(client: Duplex): Promise<string> {
  let answer = ''
  client.setEncoding('utf8').on('data', (chunk: string) => {
    answer += chunk
  })
  client.write('pod')
  await once(client, 'end')
  client.end()
  return answer
}

describe('forwardTo', () => {
  it('connects to an address, with its port or that of the pod', async () => {
    const { port, close } = await greeter()
    for (const address of [`127.0.0.1:${port}`, '127.0.0.1']) {
      const [client, connection] = duplexPair()
      await forwardTo(address)({ connection, port })
      expect(await greet(client)).toBe('hello pod')
    }
    await close()
  })

  it('rejects when the address cannot be reached', async () => {
    const { port, close } = await greeter()
    await close()
    const [, connection] = duplexPair()
    await expect(forwardTo(`127.0.0.1:${port}`)({ connection, port })).rejects.toThrow('ECONNREFUSED')
  })

  it.each(['', 'http://localhost', 'localhost:99999', 'a/b', ':80'])('refuses the address %j', (address) => {
    expect(() => forwardTo(address)).toThrow(expect.objectContaining({ code: 'InvalidOption' }))
  })
})
