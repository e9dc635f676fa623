import { beforeEach, describe, expect, it } from 'vitest'
import { createNode, createPod, nodesPath, podsPath, proxyingServer } from './testing/fake-backends.ts'

type Proxying = Awaited<ReturnType<typeof proxyingServer>>

let server: Proxying
beforeEach(async () => {
  server = await proxyingServer()
  return () => server.server.close()
})

describe('the proxy of a pod', () => {
  const proxy = (id: string) => server.ask(`${podsPath}/${id}/proxy/x`)

  it.each([
    ['p', 'http://10.1.0.1:8080', 8080],
    ['p:9090', 'http://10.1.0.1:9090', 9090],
    ['https:p:9090', 'https://10.1.0.1:9090', 9090],
    ['https:p:', 'https://10.1.0.1:8080', 8080],
  ])('connects to the first address of %s [P152]', async (id, origin, port) => {
    await createPod(server, 'p', { ips: ['10.1.0.1', 'fd00::1'] })
    expect((await proxy(id)).text).toBe('ok')
    expect(server.backends.last).toMatchObject({ target: { origin }, address: { host: '10.1.0.1', port } })
  })

  it('takes the first port that a container declares, or that of the scheme [P152]', async () => {
    const containers = [
      { name: 'c', image: 'i' },
      { name: 'd', image: 'i', ports: [{ containerPort: 7070 }, { containerPort: 7071 }] },
    ]
    await createPod(server, 'second', { ips: ['10.1.0.1'], spec: { containers } })
    await createPod(server, 'six', { ips: ['fd00::1'], spec: { containers: containers.slice(0, 1) } })
    await proxy('second')
    expect(server.backends.last.address).toEqual({ host: '10.1.0.1', port: 7070 })
    await proxy('six')
    expect(server.backends.last).toMatchObject({ address: { host: 'fd00::1', port: 80 }, headers: { host: '[fd00::1]' } })
    await proxy('https:six:')
    expect(server.backends.last.address).toEqual({ host: 'fd00::1', port: 443 })
  })

  it.each([
    ['127.0.0.1'],
    ['127.9.9.9'],
    ['127.000.000.001'],
    ['::ffff:127.000.000.001'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['169.254.169.254'],
    ['fe80::1'],
    ['0.0.0.0'],
    ['224.0.0.1'],
    ['255.255.255.255'],
  ])('refuses the address %s [P152]', async (ip) => {
    await createPod(server, 'p', { ips: [ip] })
    expect((await proxy('p')).json).toMatchObject({ code: 400, reason: 'BadRequest', message: 'address not allowed' })
    expect(server.backends.received).toEqual([])
  })

  it.each([
    ['0177.0.0.1', '177.0.0.1'],
    ['0177.0.0.01', '177.0.0.1'],
    ['::ffff:0177.0.0.1', '177.0.0.1'],
    ['FD00:0::1', 'fd00::1'],
  ])('connects for the address %s to %s, which was checked [P152]', async (ip, host) => {
    await createPod(server, 'p', { ips: [ip] })
    await proxy('p')
    const hostAndPort = `${host.includes(':') ? `[${host}]` : host}:8080`
    expect(server.backends.last).toMatchObject({ target: { origin: `http://${hostAndPort}` }, address: { host, port: 8080 } })
  })

  it('refuses pods without an address, unknown pods and malformed names [P152]', async () => {
    await createPod(server, 'p')
    await createPod(server, 'q', { ips: ['10.1.0.1'] })
    expect((await proxy('p')).json).toMatchObject({ code: 400, message: 'address not allowed' })
    expect((await proxy('missing:80')).json).toMatchObject({ code: 404, message: 'pods "missing" not found' })
    expect((await proxy('a:b:c:d')).json).toMatchObject({ code: 400, message: 'invalid pod request "a:b:c:d"' })
    for (const port of ['web', '0', '65536', '-1', '8080@evil']) {
      expect((await proxy(`q:${port}`)).json, port).toMatchObject({ code: 400, message: `invalid pod request "q:${port}"` })
    }
    expect(server.backends.received).toEqual([])
  })

  it('connects to another address when a test maps it [P152]', async () => {
    const mapped = await proxyingServer({
      proxy: { dial: ({ host, port }) => ({ host: '127.0.0.1', port: host === '10.1.0.1' ? port + 1 : 0 }) },
    })
    await createPod(mapped, 'p', { ips: ['10.1.0.1'] })
    await mapped.ask(`${podsPath}/p/proxy/`)
    expect(mapped.backends.last.target.origin).toBe('http://10.1.0.1:8080')
    expect(mapped.backends.last.address).toEqual({ host: '127.0.0.1', port: 8081 })
    await mapped.server.close()
  })

  it('keeps a limited number of connections [P152]', async () => {
    await createPod(server, 'p', { ips: ['10.1.0.1'] })
    for (let port = 1; port <= 300; port++) await proxy(`p:${port}`)
    expect(server.backends.connections).toBe(256)
    await proxy('p:300')
    expect(server.backends.connections).toBe(256)
    await server.server.close()
    expect(server.backends.connections).toBe(0)
  })
})

describe('the proxy of a node', () => {
  const proxy = (id: string) => server.ask(`${nodesPath}/${id}/proxy/x`)
  const addresses = [{ type: 'InternalIP', address: '10.9.0.1' }]
  const daemonEndpoints = { kubeletEndpoint: { Port: 10_299 } }

  it.each([
    ['n', 'https://10.9.0.1:10299', 10_299],
    ['n:10299', 'https://10.9.0.1:10299', 10_299],
    ['http:n:10299', 'https://10.9.0.1:10299', 10_299],
    ['n:8080', 'http://10.9.0.1:8080', 8080],
    ['https:n:8443', 'https://10.9.0.1:8443', 8443],
  ])('connects to its kubelet, or to another port: %s [P152]', async (id, origin, port) => {
    await createNode(server, 'n', { addresses, daemonEndpoints })
    expect((await proxy(id)).text).toBe('ok')
    expect(server.backends.last).toMatchObject({ target: { origin }, address: { host: '10.9.0.1', port } })
  })

  it('prefers the host name, and connects to the address that was checked [P152]', async () => {
    await createNode(server, 'n', { addresses: [...addresses, { type: 'Hostname', address: 'node.example.com' }] })
    await proxy('n')
    expect(server.backends.last).toMatchObject({
      target: { origin: 'https://node.example.com:10250', insecure: true },
      address: { host: '10.9.8.7', port: 10_250 },
    })
  })

  it('uses the certificates, the port and the address types of the options [P152]', async () => {
    const identity = () => ({ certificate: 'C', key: 'K' })
    const kubelet = { ca: 'CA', identity, port: 1234, preferredAddressTypes: ['ExternalIP', 'InternalIP'] }
    const own = await proxyingServer({ proxy: { kubelet } })
    await createNode(own, 'n', { addresses: [{ type: 'Hostname', address: 'localhost' }, ...addresses] })
    await own.ask(`${nodesPath}/n/proxy/`)
    expect(own.backends.last.target).toEqual({ origin: 'https://10.9.0.1:1234', ca: 'CA', certificate: 'C', key: 'K' })
    await own.ask(`${nodesPath}/https:n:1/proxy/`)
    expect(own.backends.last.target).toEqual({ origin: 'https://10.9.0.1:1', insecure: true })
    await own.server.close()
  })

  it.each([
    ['an address of this machine', [{ type: 'InternalIP', address: '127.0.0.1' }], 400, 'address not allowed'],
    ['a name of this machine', [{ type: 'Hostname', address: 'localhost' }], 400, 'address not allowed'],
    ['an octal address', [{ type: 'InternalIP', address: '0177.0.0.1' }], 400, 'lookup 0177.0.0.1: no such host'],
    ['a numeric address', [{ type: 'InternalIP', address: '2130706433' }], 400, 'lookup 2130706433: no such host'],
    ['a short address', [{ type: 'InternalIP', address: '0x7f.1' }], 400, 'lookup 0x7f.1: no such host'],
    ['an address with a zone', [{ type: 'InternalIP', address: 'fe80::1%lo' }], 400, 'address not allowed'],
    ['a part of a URL', [{ type: 'Hostname', address: 'a.example/@b' }], 400, 'lookup a.example/@b: no such host'],
    ['an unknown name', [{ type: 'Hostname', address: 'x.invalid' }], 400, 'lookup x.invalid: no such host'],
    ['no address', [], 500, 'no preferred addresses found; known addresses: []'],
    [
      'an address of another type',
      [{ type: 'Other', address: '10.0.0.1' }],
      500,
      'no preferred addresses found; known addresses: [{Other 10.0.0.1}]',
    ],
  ])('refuses a node with %s [P152]', async (_, given, code, message) => {
    await createNode(server, 'n', { addresses: given })
    expect((await proxy('n')).json).toMatchObject({ code, message })
    expect(server.backends.received).toEqual([])
  })

  it('refuses unknown nodes and malformed names [P152]', async () => {
    expect((await proxy('missing')).json).toMatchObject({ code: 404, message: 'nodes "missing" not found' })
    expect((await proxy('a:b:c:d')).json).toMatchObject({ code: 400, message: 'invalid node request "a:b:c:d"' })
  })
})
