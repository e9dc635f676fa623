/**
 * krmkit and a stock kube-controller-manager compete for one Lease, whose holder runs the controllers. Needs the programs that
 * `KRMKIT_ETCD`, `KRMKIT_KUBE_APISERVER` and `KRMKIT_KUBE_CONTROLLER_MANAGER` name.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type RunningServer, serve } from '../../packages/cli/src/serve.ts'
import { serveOptions } from '../../packages/cli/src/testing/run-command.ts'
import { ApiEndpoint } from '../../packages/conformance/src/api-endpoint.ts'
import { EtcdProcess, etcdProgram } from '../../packages/storage/src/etcd/testing/etcd-process.ts'
import { StockServer, writeTokens } from './stock-server.ts'

const etcdPath = etcdProgram()
const stockPath = process.env.KRMKIT_KUBE_APISERVER
const managerPath = process.env.KRMKIT_KUBE_CONTROLLER_MANAGER
const token = 'admin-token'
const isMissing = etcdPath === undefined || stockPath === undefined || managerPath === undefined
const needs = 'needs KRMKIT_ETCD, KRMKIT_KUBE_APISERVER and KRMKIT_KUBE_CONTROLLER_MANAGER'

interface HeldLease {
  readonly spec?: { readonly holderIdentity?: string; readonly leaseTransitions?: number }
}

async function leaseOf(server: ApiEndpoint): Promise<NonNullable<HeldLease['spec']>> {
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager'
  return (JSON.parse((await server.send('GET', path)).text) as HeldLease).spec ?? {}
}

/** Creates a namespace, and waits for what a controller creates in it. */
async function expectControllers(server: ApiEndpoint, name: string): Promise<void> {
  const created = await server.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  expect(created.status).toBe(201)
  const account = async () => (await server.send('GET', `/api/v1/namespaces/${name}/serviceaccounts/default`)).status
  await expect.poll(account, { timeout: 30_000 }).toBe(200)
}

async function startManager(program: string, { url, folder }: { url: string; folder: string }): Promise<ChildProcess> {
  const kubeconfig = join(folder, 'manager.kubeconfig')
  const cluster = { name: 'c', cluster: { server: url, 'insecure-skip-tls-verify': true } }
  const context = { name: 'c', context: { cluster: 'c', user: 'admin' } }
  const users = [{ name: 'admin', user: { token } }]
  const config = { apiVersion: 'v1', kind: 'Config', clusters: [cluster], users, contexts: [context], 'current-context': 'c' }
  await writeFile(kubeconfig, JSON.stringify(config))
  const controllers = '--controllers=namespace-controller,serviceaccount-controller'
  return spawn(program, ['--kubeconfig', kubeconfig, controllers, '--secure-port=0'], { stdio: 'ignore' })
}

async function startKrmkit(folder: string, etcdUrl: string): Promise<{ running: RunningServer; endpoint: ApiEndpoint }> {
  const flags = ['--storage=etcd', `--etcd-servers=${etcdUrl}`, `--token-auth-file=${writeTokens(folder, token)}`]
  const log = { info: () => undefined, error: () => undefined }
  const running = await serve(await serveOptions(join(folder, 'data'), flags), log)
  return { running, endpoint: new ApiEndpoint('krmkit', Number(new URL(running.url).port), token) }
}

it.skipIf(isMissing)(
  `the controllers run in krmkit or in a stock controller manager, and move when one ends${isMissing ? ` (${needs})` : ''}`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'krmkit-manager-'))
    const etcd = await EtcdProcess.start(etcdPath!)
    const first = await startKrmkit(folder, etcd.url)
    const holder = async (server: ApiEndpoint) => (await leaseOf(server)).holderIdentity ?? ''
    await expect.poll(() => holder(first.endpoint), { timeout: 30_000 }).not.toBe('')
    const krmkit = await holder(first.endpoint)
    const stock = await StockServer.start(stockPath!, { etcd: etcd.url, folder, token })
    const manager = await startManager(managerPath!, { url: stock.url, folder })
    let second: Awaited<ReturnType<typeof startKrmkit>> | undefined
    try {
      await setTimeout(6000)
      expect(await holder(stock.endpoint)).toBe(krmkit)
      first.endpoint.close()
      await first.running.close()
      // Released, so that it is taken long before it would expire.
      await expect.poll(() => holder(stock.endpoint), { timeout: 12_000 }).not.toMatch(new RegExp(`^$|^${krmkit}$`))
      const taken = await holder(stock.endpoint)
      await expectControllers(stock.endpoint, 'by-the-manager')
      second = await startKrmkit(folder, etcd.url)
      await setTimeout(6000)
      expect(await holder(second.endpoint)).toBe(taken)
      manager.kill('SIGKILL')
      await expect.poll(() => holder(stock.endpoint), { timeout: 40_000 }).not.toMatch(new RegExp(`^$|^${taken}$`))
      await expectControllers(second.endpoint, 'by-krmkit')
      expect((await leaseOf(stock.endpoint)).leaseTransitions).toBe(2)
    } finally {
      manager.kill('SIGKILL')
      second?.endpoint.close()
      await second?.running.close()
      await first.running.close()
      await stock.close()
      await etcd.dispose()
      await rm(folder, { recursive: true, force: true })
    }
  },
  240_000,
)
