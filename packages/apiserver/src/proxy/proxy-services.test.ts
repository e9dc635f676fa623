import { beforeEach, describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'
import { createPod, createService, podAddress, proxyingServer, servicesPath } from './testing/fake-backends.ts'

type Proxying = Awaited<ReturnType<typeof proxyingServer>>

let server: Proxying
beforeEach(async () => {
  server = await proxyingServer()
  await createPod(server, 'p', { ips: ['10.1.0.1', 'fd00::1'] })
  await createPod(server, 'q', { ips: ['10.1.0.2'] })
  const addresses = [podAddress('10.1.0.1', 'p'), podAddress('10.1.0.2', 'q')]
  const ports = [
    { name: 'web', port: 80, targetPort: 8080 },
    { name: 'admin', port: 81, targetPort: 9090 },
  ]
  const targets = [
    { name: 'web', port: 8080 },
    { name: 'admin', port: 9090 },
  ]
  await createService(server, 'shop', ports, [{ addresses, ports: targets }])
  await createService(server, 'one', [{ port: 80 }], [{ addresses: [podAddress('10.1.0.1', 'p')], ports: [{ port: 8080 }] }])
  return () => server.server.close()
})

const proxy = (id: string, path = '/x') => server.ask(`${servicesPath}/${id}/proxy${path}`)

describe('the proxy of a service', () => {
  it.each([
    ['one', 'http://', 8080],
    ['one:80', 'http://', 8080],
    ['http:one:', 'http://', 8080],
    ['http:one:80', 'http://', 8080],
    ['https:one:80', 'https://', 8080],
    ['https:one:', 'https://', 8080],
    ['shop:web', 'http://', 8080],
    ['shop:81', 'http://', 9090],
    ['https:shop:admin', 'https://', 9090],
  ])('finds an endpoint of %s [P152]', async (id, scheme, port) => {
    expect((await proxy(id)).text).toBe('ok')
    const { address, target } = server.backends.last
    expect(address?.port).toBe(port)
    expect(['10.1.0.1', '10.1.0.2']).toContain(address?.host)
    expect(target.origin).toBe(`${scheme}${address?.host}:${port}`)
    // Certificates of pods do not contain the address of the pod.
    expect(target.insecure).toBe(scheme === 'https://' ? true : undefined)
  })

  it('chooses among all ready endpoints [P152]', async () => {
    const hosts = new Set<string | undefined>()
    for (let i = 0; i < 30; i++) {
      await proxy('shop:web')
      hosts.add(server.backends.last.address?.host)
    }
    expect([...hosts].sort()).toEqual(['10.1.0.1', '10.1.0.2'])
  })

  it('finds the subset that has the port [P152]', async () => {
    const subsets = [
      { addresses: [podAddress('10.1.0.1', 'p')], ports: [{ name: 'a', port: 1 }] },
      { addresses: [podAddress('10.1.0.2', 'q')], ports: [{ name: 'b', port: 2 }] },
    ]
    const ports = [
      { name: 'a', port: 10 },
      { name: 'b', port: 20 },
    ]
    await createService(server, 'split', ports, subsets)
    for (let i = 0; i < 10; i++) {
      await proxy('split:20')
      expect(server.backends.last.address).toEqual({ host: '10.1.0.2', port: 2 })
    }
  })

  it('ignores addresses that are not ready, or of no pod of the namespace [P152]', async () => {
    const ports = [{ port: 8080 }]
    const subsets = {
      unready: { notReadyAddresses: [podAddress('10.1.0.1', 'p')], ports },
      unowned: { addresses: [{ ip: '10.1.0.1' }], ports },
      foreign: { addresses: [podAddress('10.1.0.1', 'p', 'kube-system')], ports },
      stolen: { addresses: [podAddress('10.1.0.2', 'p')], ports },
      gone: { addresses: [podAddress('10.1.0.1', 'missing')], ports },
    }
    for (const [name, subset] of Object.entries(subsets)) {
      await createService(server, name, [{ port: 80 }], [subset])
      const { status, json } = await proxy(name)
      expect([status, json.reason, json.message], name).toEqual([
        503,
        'ServiceUnavailable',
        `no endpoints available for service "${name}"`,
      ])
    }
    expect(server.backends.received).toEqual([])
  })

  it.each([
    ['shop', 503, 'no endpoints available for service "shop"'],
    ['shop:82', 503, 'no service port 82 found for service "shop"'],
    ['shop:other', 503, 'no endpoints available for service "shop:other"'],
    ['shop:99999999999999999999', 503, 'no endpoints available for service "shop:99999999999999999999"'],
    ['gone', 404, 'services "gone" not found'],
    ['gone:80', 404, 'services "gone" not found'],
    ['ftp:one:80', 400, 'invalid service request "ftp:one:80"'],
    [':80', 400, 'invalid service request ":80"'],
    ['a:b:c:d', 400, 'invalid service request "a:b:c:d"'],
  ])('refuses %s [P152]', async (id, code, message) => {
    expect((await proxy(id)).json).toMatchObject({ kind: 'Status', code, message })
    expect(server.backends.received).toEqual([])
  })

  it('reports services without endpoints, or with empty ones [P152]', async () => {
    await createService(server, 'bare', [{ port: 80 }])
    expect((await proxy('bare')).json).toMatchObject({ code: 404, message: 'services "bare" not found' })
    await createService(server, 'empty', [{ port: 80 }], [])
    expect((await proxy('empty:80')).json).toMatchObject({ code: 503, message: 'no endpoints available for service "empty"' })
  })

  it('reports a backend that cannot be reached [P152]', async () => {
    server.backends.handle = () => {
      throw new Error('dial tcp 10.1.0.1:8080: connect: connection refused')
    }
    expect((await proxy('one')).json).toMatchObject({
      code: 503,
      reason: 'ServiceUnavailable',
      message: 'error trying to reach service: dial tcp 10.1.0.1:8080: connect: connection refused',
    })
  })

  it('fails without a transport [P152]', async () => {
    const bare = await sampleServer()
    await createPod(bare, 'p', { ips: ['10.1.0.1'] })
    expect((await bare.ask('/api/v1/namespaces/default/pods/p/proxy/')).json).toMatchObject({
      code: 503,
      message: 'error trying to reach service: no transport is configured: pods and nodes cannot be reached',
    })
    await bare.server.close()
  })
})
