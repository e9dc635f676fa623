/**
 * Several servers on one etcd: addresses and ports of services, elected controllers, the end of a server. Needs the program that
 * `KRMKIT_ETCD` names; a kube-apiserver takes part when `KRMKIT_KUBE_APISERVER` names one.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningServer, serve } from '../../packages/cli/src/serve.ts'
import { serveOptions } from '../../packages/cli/src/testing/run-command.ts'
import { ApiEndpoint } from '../../packages/conformance/src/api-endpoint.ts'
import { EtcdProcess, etcdProgram, withoutEtcd } from '../../packages/storage/src/etcd/testing/etcd-process.ts'
import { type ServerProcess, startServerProcess } from '../clients/support/server-process.ts'
import { StockServer, writeTokens } from './stock-server.ts'

const etcdPath = etcdProgram()
const stockPath = process.env.KRMKIT_KUBE_APISERVER
const token = 'admin-token'
const services = '/api/v1/namespaces/default/services'
const timeoutMs = 180_000

interface Service {
  readonly spec: { readonly clusterIP: string; readonly ports: readonly { readonly nodePort: number }[] }
}

const log = { info: () => undefined, error: () => undefined }
const portOf = (url: string) => Number(new URL(url).port)
const service = (name: string) => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name } },
  spec: { type: 'NodePort', ports: [{ port: 80, protocol: 'TCP' }] },
})

/** Creates services through all servers at once, a few at a time through each. @returns replies other than 201 */
async function createServices(servers: readonly ApiEndpoint[], count: number): Promise<string[]> {
  const refused: string[] = []
  await Promise.all(
    servers.flatMap((server) => {
      let next = 0
      const work = async () => {
        for (let n = next++; n < count; n = next++) {
          const { status, text } = await server.send('POST', services, service(`${server.name}-${n}`))
          if (status !== 201) refused.push(`${server.name} ${status} ${text}`)
        }
      }
      return Array.from({ length: 6 }, work)
    }),
  )
  return refused
}

async function listServices(server: ApiEndpoint): Promise<Service[]> {
  return (JSON.parse((await server.send('GET', '/api/v1/services')).text) as { items: Service[] }).items
}

function expectDistinct(items: readonly Service[]): void {
  const addresses = items.map(({ spec }) => spec.clusterIP)
  const ports = items.flatMap(({ spec }) => spec.ports.flatMap(({ nodePort }) => nodePort ?? []))
  expect(new Set(addresses).size).toBe(addresses.length)
  expect(new Set(ports).size).toBe(ports.length)
}

if (etcdPath === undefined) it.skip(`two servers on one etcd (${withoutEtcd})`)
else describe('two servers on one etcd', () => twoServers(etcdPath))

function twoServers(etcdPath: string): void {
  let folder: string
  let etcd: EtcdProcess
  let first: ServerProcess
  let second: RunningServer
  let servers: readonly [ApiEndpoint, ApiEndpoint]

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'krmkit-several-'))
    etcd = await EtcdProcess.start(etcdPath)
    const tokens = writeTokens(folder, token)
    const flags = [
      ...['--storage=etcd', `--etcd-servers=${etcd.url}`, `--token-auth-file=${tokens}`],
      '--service-cluster-ip-range=10.0.0.0/16',
    ]
    first = await startServerProcess(['--secure-port=0', `--data-dir=${join(folder, 'first')}`, ...flags])
    const endpoint = new ApiEndpoint('first', portOf(first.url), token)
    // The first one leads.
    while ((await leader(endpoint)) === '') await new Promise((resolve) => setTimeout(resolve, 100))
    second = await serve(await serveOptions(join(folder, 'second'), flags), log)
    servers = [endpoint, new ApiEndpoint('second', portOf(second.url), token)]
  }, timeoutMs)
  afterAll(async () => {
    for (const server of servers ?? []) server.close()
    await second?.close()
    await first?.kill()
    await etcd?.dispose()
    await rm(folder, { recursive: true, force: true })
  })

  const leader = async (server: ApiEndpoint): Promise<string> => {
    const { text } = await server.send(
      'GET',
      '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager',
    )
    return (JSON.parse(text) as { spec?: { holderIdentity?: string } }).spec?.holderIdentity ?? ''
  }

  it(
    'give 200 services distinct addresses and ports, and show the same ones',
    async () => {
      expect(await createServices(servers, 100)).toEqual([])
      const [a, b] = [await listServices(servers[0]), await listServices(servers[1])]
      expect(a).toHaveLength(201)
      expect(b).toEqual(a)
      expectDistinct(a)
      const { text } = await servers[0].send('GET', '/apis/networking.k8s.io/v1/ipaddresses')
      const names = (JSON.parse(text) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)
      expect(names.sort()).toEqual(a.map(({ spec }) => spec.clusterIP).sort())
    },
    timeoutMs,
  )

  it(
    'reuse the address and port of a deleted service through either server',
    async () => {
      const { items } = JSON.parse((await servers[0].send('GET', services)).text) as {
        items: (Service & { metadata: { name: string } })[]
      }
      const { metadata, spec } = items.find((each) => each.metadata.name === 'first-7')!
      const asking = {
        ...service('again'),
        spec: { type: 'NodePort', clusterIP: spec.clusterIP, ports: [{ port: 80, nodePort: spec.ports[0]!.nodePort }] },
      }
      expect((await servers[1].send('POST', services, asking)).status).toBe(422)
      expect((await servers[0].send('DELETE', `${services}/${metadata.name}`)).status).toBe(200)
      expect((await servers[1].send('POST', services, asking)).status).toBe(201)
    },
    timeoutMs,
  )

  it(
    'go on when one is killed under load: its controllers run in the other one within the duration of the Lease',
    async () => {
      const before = await leader(servers[1])
      expect(before).not.toBe('')
      const failures: string[] = []
      let written = 0
      let isOver = false
      const writer = async () => {
        while (!isOver) {
          const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `load-${written++}` } }
          const { status, text } = await servers[1].send('POST', '/api/v1/namespaces/default/configmaps', body)
          if (status !== 201) failures.push(text)
        }
      }
      const writers = [writer(), writer()]
      const watch = servers[1].watch('/api/v1/namespaces?resourceVersion=0')
      await first.kill()
      const killedMs = Date.now()
      await expect.poll(() => leader(servers[1]), { timeout: 40_000, interval: 250 }).not.toBe(before)
      const takenOverMs = Date.now() - killedMs
      isOver = true
      await Promise.all(writers)
      // The Lease lasts 15 seconds from its last renewal; attempts are up to 4.4 seconds apart.
      expect(takenOverMs).toBeLessThan(15_000 + 4400 + 5000)
      expect(failures).toEqual([])
      expect(written).toBeGreaterThan(20)
      expect(
        (await servers[1].send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late' } }))
          .status,
      ).toBe(201)
      const account = async () => (await servers[1].send('GET', '/api/v1/namespaces/late/serviceaccounts/default')).status
      await expect.poll(account, { timeout: 20_000 }).toBe(200)
      expect(watch.lines.some((line) => line.includes('"late"'))).toBe(true)
      watch.close()
    },
    timeoutMs,
  )
}

if (etcdPath === undefined || stockPath === undefined) {
  it.skip('services of a kube-apiserver beside krmkit: needs KRMKIT_ETCD and KRMKIT_KUBE_APISERVER')
} else describe('a kube-apiserver beside krmkit', () => besideStock(etcdPath, stockPath))

function besideStock(etcdPath: string, stockPath: string): void {
  let folder: string
  let etcd: EtcdProcess
  let stock: StockServer
  let krmkit: RunningServer
  let servers: readonly [ApiEndpoint, ApiEndpoint]

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'krmkit-several-'))
    etcd = await EtcdProcess.start(etcdPath)
    const flags = ['--storage=etcd', `--etcd-servers=${etcd.url}`, `--token-auth-file=${writeTokens(folder, token)}`]
    krmkit = await serve(await serveOptions(join(folder, 'data'), [...flags, '--controllers=']), log)
    stock = await StockServer.start(stockPath, { etcd: etcd.url, folder, token })
    servers = [stock.endpoint, new ApiEndpoint('krmkit', portOf(krmkit.url), token)]
  }, timeoutMs)
  afterAll(async () => {
    servers?.[1].close()
    await krmkit?.close()
    await stock?.close()
    await etcd?.dispose()
    await rm(folder, { recursive: true, force: true })
  })

  it(
    'gives services distinct addresses and ports, whichever server creates them',
    async () => {
      expect(await createServices(servers, 80)).toEqual([])
      const items = await listServices(servers[0])
      expect(items).toHaveLength(161)
      expect(await listServices(servers[1])).toEqual(items)
      expectDistinct(items)
    },
    timeoutMs,
  )

  it(
    'frees what the other server has assigned',
    async () => {
      const [stockServer, krmkitServer] = servers
      for (let n = 0; n < 80; n++) {
        expect((await krmkitServer.send('DELETE', `${services}/${stockServer.name}-${n}`)).status).toBe(200)
        expect((await stockServer.send('DELETE', `${services}/${krmkitServer.name}-${n}`)).status).toBe(200)
      }
      // The range has 253 addresses: without those that were freed this would fail.
      expect(await createServices(servers, 110)).toEqual([])
      expectDistinct(await listServices(servers[0]))
    },
    timeoutMs,
  )
}
