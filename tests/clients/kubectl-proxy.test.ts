import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { createCertificateAuthority } from '@krmkit/authentication/testing'
import { createProxyTransport } from '@krmkit/http'
import { systemClock, systemRandom } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Kubectl, kubectlIn, kubectlMissing, skipNote } from './support/kubectl.ts'
import { type LocalServer, startLocalServer } from './support/local-server.ts'

/** Stock kubectl with a service, a pod and a node that answer: an HTTP server, and one that plays a kubelet. */

const suite = describe.skipIf(kubectlMissing !== undefined)
const transport = createProxyTransport()
let world: LocalServer
let kubectl: Kubectl
let backend: Server
let kubelet: Server

const podAddress = '10.1.0.1'
const nodeAddress = '10.9.0.1'

beforeAll(async () => {
  if (kubectlMissing !== undefined) return
  backend = createServer((request, response) => {
    if (request.url === '/page') response.setHeader('content-type', 'text/html').end('<a href="/next">next</a>')
    else response.end(`${request.method} ${request.url}`)
  })
  backend.on('upgrade', (_, socket: Duplex) => {
    socket.on('error', () => undefined)
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
    socket.pipe(socket)
  })
  const authority = createCertificateAuthority({ name: 'nodes', clock: systemClock, random: systemRandom })
  const { certificate: cert, key } = authority.issue({ commonName: 'node' })
  kubelet = createHttpsServer({ cert, key }, (request, response) => response.end(`kubelet ${request.url}\n`))
  const ports: Readonly<Record<string, number>> = {
    [podAddress]: await listenOn(backend),
    [nodeAddress]: await listenOn(kubelet),
  }
  world = await startLocalServer({
    proxy: { transport, dial: ({ host, port }) => ({ host: '127.0.0.1', port: ports[host] ?? port }) },
  })
  kubectl = await kubectlIn(world.folder, await world.kubeconfig())
  await createObjects()
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  transport[Symbol.dispose]()
  for (const each of [backend, kubelet]) each?.closeAllConnections()
  for (const each of [backend, kubelet]) each?.close()
})

async function listenOn(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function createObjects(): Promise<void> {
  const v1 = { apiVersion: 'v1' }
  const targetRef = { kind: 'Pod', name: 'p', namespace: 'default' }
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 8080 }] }] }
  await kubectl.create(
    { ...v1, kind: 'Node', metadata: { name: 'n' } },
    { ...v1, kind: 'Pod', metadata: { name: 'p' }, spec },
    { ...v1, kind: 'Service', metadata: { name: 'shop' }, spec: { ports: [{ name: 'web', port: 80, targetPort: 8080 }] } },
    {
      ...v1,
      kind: 'Endpoints',
      metadata: { name: 'shop' },
      subsets: [{ addresses: [{ ip: podAddress, targetRef }], ports: [{ name: 'web', port: 8080 }] }],
    },
  )
  const patch = (object: string, status: object) =>
    kubectl.run(`patch ${object} --subresource=status --type=merge -p`, { more: [JSON.stringify({ status })] })
  await patch('pod p', { podIP: podAddress, podIPs: [{ ip: podAddress }], phase: 'Running' })
  await patch('node n', { addresses: [{ type: 'InternalIP', address: nodeAddress }] })
}

suite(`kubectl and the proxy${skipNote}`, () => {
  const service = '/api/v1/namespaces/default/services/shop:80/proxy'

  it('get --raw reads from a service, a pod and a node [P152]', async () => {
    expect(await kubectl.run(`get --raw ${service}/path?x=1`)).toBe('GET /path?x=1')
    expect(await kubectl.run('get --raw /api/v1/namespaces/default/services/http:shop:web/proxy/')).toBe('GET /')
    expect(await kubectl.run('get --raw /api/v1/namespaces/default/pods/p/proxy/')).toBe('GET /')
    expect(await kubectl.run('get --raw /api/v1/nodes/n/proxy/healthz')).toBe('kubelet /healthz')
    expect(await kubectl.run(`create --raw ${service}/made -f -`, { stdin: '{}' })).toBe('POST /made')
  })

  it('get --raw reports a service without such a port [P152]', async () => {
    const path = '/api/v1/namespaces/default/services/shop:81/proxy/'
    expect(await kubectl.refused(`get --raw ${path}`)).toContain('no service port 81 found for service "shop"')
  })

  it('proxy serves a page whose links work, and tunnels upgrades [P152]', async () => {
    const proxy = kubectl.follow('proxy --port=0')
    try {
      await expect.poll(() => proxy.text, { timeout: 20_000 }).toContain('Starting to serve on')
      const origin = `http://${/serve on (\S+)/.exec(proxy.text)?.[1]}`
      const page = await fetch(`${origin}${service}/page`)
      expect(await page.text()).toBe(`<a href="${service}/next">next</a>`)
      expect(await echoOver(`${origin}${service}/socket`)).toBe('over the tunnel')
    } finally {
      await proxy.stop()
    }
  })

  it('exec asks the kubelet of the node, over SPDY when it refuses WebSocket', async () => {
    const asked: string[] = []
    kubelet.on('upgrade', ({ headers, url }: IncomingMessage, socket: Duplex) => {
      asked.push(`${headers.upgrade} ${url}`)
      socket.on('error', () => undefined)
      if (headers.upgrade !== 'websocket') return void socket.destroy()
      socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')
    })
    await kubectl.refused('exec p -- date -u')
    expect(asked.at(-1)).toBe('SPDY/3.1 /exec/default/p/c?command=date&command=-u&error=1&output=1')
  })

  it('logs reads from the kubelet of the node', async () => {
    expect(await kubectl.run('logs p --tail=5')).toBe('kubelet /containerLogs/default/p/c?tailLines=5')
  })
})

/** What an upgraded connection sends back. */
function echoOver(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { headers: { connection: 'Upgrade', upgrade: 'echo' } })
    request.on('error', reject)
    request.on('response', ({ statusCode }: IncomingMessage) => reject(new Error(`status ${statusCode}`)))
    request.on('upgrade', (_, socket: Duplex) => {
      socket.on('data', (piece: Buffer) => {
        resolve(piece.toString())
        socket.destroy()
      })
      socket.write('over the tunnel')
    })
    request.end()
  })
}
