/**
 * A kube-apiserver and krmkit on one etcd. Needs the programs that `KRMKIT_ETCD` and `KRMKIT_KUBE_APISERVER` name;
 * `KRMKIT_SIDE_BY_SIDE_WRITES` is the number of writes.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RandomChoices } from '@krmkit/base/random-choices'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningServer, serve } from '../../packages/cli/src/serve.ts'
import { serveOptions } from '../../packages/cli/src/testing/run-command.ts'
import { ApiEndpoint, type ApiObject } from '../../packages/conformance/src/api-endpoint.ts'
import { EtcdProcess, etcdProgram } from '../../packages/storage/src/etcd/testing/etcd-process.ts'
import { kinds, type MixedWrites, prepare, writeMixed } from './mixed-writes.ts'
import { StockServer, writeTokens } from './stock-server.ts'

const etcdPath = etcdProgram()
const stockPath = process.env.KRMKIT_KUBE_APISERVER
const writes = Number(process.env.KRMKIT_SIDE_BY_SIDE_WRITES ?? 500)
const seed = Number(process.env.KRMKIT_SEED ?? 1)
const token = 'admin-token'
/** Collections that are compared although only the servers themselves write them. */
const others = [
  '/api/v1/namespaces',
  '/api/v1/services',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/apiregistration.k8s.io/v1/apiservices',
  '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
  '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
  '/apis/networking.k8s.io/v1/ipaddresses',
  '/apis/networking.k8s.io/v1/servicecidrs',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/scheduling.k8s.io/v1/priorityclasses',
]
const collections = [...kinds.map(({ path }) => path), ...others]
const timeoutMs = 60_000 + writes * 100

if (etcdPath === undefined || stockPath === undefined) {
  it.skip('a kube-apiserver beside krmkit: needs KRMKIT_ETCD and KRMKIT_KUBE_APISERVER')
} else describe('a kube-apiserver and krmkit on one etcd', () => sideBySide(etcdPath, stockPath))

function sideBySide(etcdPath: string, stockPath: string): void {
  let folder: string
  let etcd: EtcdProcess
  let stock: StockServer
  let krmkit: RunningServer
  let servers: readonly ApiEndpoint[]
  let result: MixedWrites
  const watches: { readonly path: string; readonly server: string; readonly lines: string[]; close(): void }[] = []
  const logged: string[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'krmkit-side-'))
    etcd = await EtcdProcess.start(etcdPath)
    stock = await StockServer.start(stockPath, { etcd: etcd.url, folder, token })
    const tokens = writeTokens(folder, token)
    const flags = ['--storage=etcd', `--etcd-servers=${etcd.url}`, `--token-auth-file=${tokens}`, '--controllers=']
    const log = {
      info: () => undefined,
      error: (text: string, error?: unknown) => void logged.push(`${text}: ${error instanceof Error ? error.stack : error}`),
    }
    krmkit = await serve(await serveOptions(join(folder, 'data'), flags), log)
    servers = [stock.endpoint, new ApiEndpoint('krmkit', Number(new URL(krmkit.url).port), token)]
    await prepare(servers)
    for (const { path } of kinds) {
      const { metadata } = JSON.parse((await stock.endpoint.send('GET', path)).text)
      for (const server of servers) {
        const watch = server.watch(`${path}?resourceVersion=${metadata.resourceVersion}`)
        watches.push({ path, server: server.name, lines: watch.lines, close: watch.close })
      }
    }
    const choices = new RandomChoices(seed)
    result = await writeMixed(servers, { writes, below: (limit) => choices.below(limit) })
    await new Promise((resolve) => setTimeout(resolve, 2000))
    for (const { close } of watches) close()
  }, timeoutMs)
  afterAll(async () => {
    servers?.[1]?.close()
    await krmkit?.close()
    await stock?.close()
    await etcd?.dispose()
    await rm(folder, { recursive: true, force: true })
  })

  it('accepts every write on both servers', () => {
    expect(result.strange).toEqual([])
    expect(Math.min(...result.written.values())).toBeGreaterThan(writes / 4)
    expect(logged).toEqual([])
  })

  it('lists the same bytes on both', async () => {
    for (const path of collections) {
      const [a, b] = await Promise.all(servers.map((server) => server.send('GET', path)))
      // The versions of the lists differ by writes to other collections.
      expect(withoutListVersion(b!.text), path).toBe(withoutListVersion(a!.text))
    }
  })

  it('sends the same events in the same order on both', () => {
    for (const { path } of kinds) {
      const [a, b] = ['stock', 'krmkit'].map((name) => watches.find((each) => each.path === path && each.server === name)!.lines)
      expect(b!.length, path).toBeGreaterThan(0)
      for (const [at, line] of a!.entries()) expect(b![at], path).toBe(line)
      expect(b!.length).toBe(a!.length)
    }
  })

  it(
    'stores what the other server would store: a PUT without a change writes nothing',
    async () => {
      const changed: string[] = []
      for (const path of collections) {
        const { items } = JSON.parse((await servers[0]!.send('GET', path)).text) as { items: ApiObject[] }
        for (const { metadata } of items) {
          for (const server of servers) {
            const one = `${inNamespace(path, metadata.namespace)}/${metadata.name}`
            const before = (await server.send('GET', one)).text
            const after = await server.send('PUT', one, JSON.parse(before))
            if (after.text !== before) changed.push(`${server.name} ${one}: ${before} -> ${after.text}`)
          }
        }
      }
      expect(changed).toEqual([])
    },
    timeoutMs,
  )
}

/** The path of the part of a collection that is in one namespace. */
function inNamespace(path: string, namespace: string | undefined): string {
  if (namespace === undefined || path.includes('/namespaces/')) return path
  return path.replace(/\/([^/]+)$/, `/namespaces/${namespace}/$1`)
}

function withoutListVersion(text: string): string {
  return text.replace(/"metadata":\{("continue":"",)?"resourceVersion":"\d+"(,"continue":"")?\}/, '"metadata":{}')
}
