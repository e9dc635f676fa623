/**
 * Moves the objects of the embedded store to a kube-apiserver by a snapshot of etcd, and back. Needs the programs that `KRMKIT_ETCD`,
 * `KRMKIT_ETCDUTL` and `KRMKIT_KUBE_APISERVER` name.
 */
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RandomChoices } from '@krmkit/base/random-choices'
import { expect, it } from 'vitest'
import { serve } from '../../packages/cli/src/serve.ts'
import { runCommand, serveOptions } from '../../packages/cli/src/testing/run-command.ts'
import { ApiEndpoint } from '../../packages/conformance/src/api-endpoint.ts'
import { EtcdClient } from '../../packages/storage/src/etcd/etcd-client.ts'
import { EtcdProcess, etcdProgram } from '../../packages/storage/src/etcd/testing/etcd-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { kinds, prepare, writeMixed } from './mixed-writes.ts'
import { StockServer, writeTokens } from './stock-server.ts'

const etcdPath = etcdProgram()
const { KRMKIT_ETCDUTL: etcdutl, KRMKIT_KUBE_APISERVER: stockPath } = process.env
const token = 'admin-token'
const writes = 200
const collections = [
  ...kinds.map(({ path }) => path),
  '/api/v1/services',
  '/api/v1/namespaces',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
]

const folder = temporaryFolder({ perTest: true })

const log = { info: () => undefined, error: () => undefined }
const dataDir = (name: string) => join(folder, name)

async function withKrmkit<T>(name: string, flags: readonly string[], use: (server: ApiEndpoint) => Promise<T>): Promise<T> {
  const tokens = `--token-auth-file=${writeTokens(folder, token)}`
  const server = await serve(await serveOptions(dataDir(name), ['--storage=durable', '--controllers=', tokens, ...flags]), log)
  const endpoint = new ApiEndpoint('krmkit', Number(new URL(server.url).port), token)
  try {
    return await use(endpoint)
  } finally {
    endpoint.close()
    await server.close()
  }
}

type Objects = ReadonlyMap<string, unknown>

/** Objects by path, with their resource versions. */
async function objectsOf(server: ApiEndpoint): Promise<Objects> {
  const found = new Map<string, unknown>()
  for (const path of collections) for (const item of await itemsOf(server, path)) found.set(`${path}/${item.metadata.name}`, item)
  return found
}

/** A server that has just started serves custom resources a little later. */
async function itemsOf(server: ApiEndpoint, path: string): Promise<{ metadata: { name: string } }[]> {
  for (let attempt = 1; ; attempt++) {
    const { status, text } = await server.send('GET', path)
    if (status === 200) return JSON.parse(text).items
    if (attempt === 150) throw new Error(`${server.name} GET ${path}: ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** A server that starts writes some objects itself. */
function expectKept(after: Objects, before: Objects, isWrittenAtStart: (path: string) => boolean): void {
  expect([...before.keys()].filter((path) => !after.has(path))).toEqual([])
  for (const [path, object] of before) if (!isWrittenAtStart(path)) expect(after.get(path), path).toEqual(object)
}

/** Deletes one object of each kind and patches another one. */
async function changeSome(server: ApiEndpoint, objects: Objects): Promise<void> {
  for (const { path, patch } of kinds) {
    const [one = '', other = ''] = [...objects.keys()].filter((each) => each.startsWith(`${path}/`))
    expect((await server.send('DELETE', one)).status, one).toBe(200)
    expect((await server.send('PATCH', other, patch(7), 'application/merge-patch+json')).status, other).toBe(200)
  }
}

const isOfMixed = (path: string) => path.includes('/namespaces/mixed/') || path.endsWith('.example.com')

async function stockOn(
  snapshot: string,
  use: (server: ApiEndpoint, etcd: EtcdProcess) => Promise<void>,
  flags: readonly string[],
) {
  const etcd = await EtcdProcess.prepare(etcdPath!, [])
  try {
    etcd.restore(etcdutl!, snapshot)
    await etcd.start()
    const stock = await StockServer.start(stockPath!, { etcd: etcd.url, folder, token, flags })
    try {
      await use(stock.endpoint, etcd)
    } finally {
      await stock.close()
    }
  } finally {
    await etcd.dispose()
  }
}

async function saveSnapshot(etcd: EtcdProcess, path: string): Promise<void> {
  const client = new EtcdClient({ endpoints: [etcd.url] })
  const parts: Uint8Array[] = []
  for await (const part of client.snapshot()) parts.push(part)
  client.close()
  await writeFile(path, Buffer.concat(parts))
}

/** Secrets are encrypted in the store, in the snapshot and by kube-apiserver. */
async function encryptionFlag(): Promise<string> {
  const secret = Buffer.alloc(32, 7).toString('base64')
  const providers = [{ secretbox: { keys: [{ name: 'one', secret }] } }, { identity: {} }]
  const path = join(folder, 'encryption.json')
  const apiVersion = 'apiserver.config.k8s.io/v1'
  await writeFile(
    path,
    JSON.stringify({ apiVersion, kind: 'EncryptionConfiguration', resources: [{ resources: ['secrets'], providers }] }),
  )
  return `--encryption-provider-config=${path}`
}

const canRun = etcdPath !== undefined && etcdutl !== undefined && stockPath !== undefined
const needs = canRun ? '' : ' (needs KRMKIT_ETCD, KRMKIT_ETCDUTL and KRMKIT_KUBE_APISERVER)'
it.skipIf(!canRun)(
  `a snapshot of etcd moves all objects to a kube-apiserver and back, with their resource versions${needs}`,
  async () => {
    const encryption = await encryptionFlag()
    const choices = new RandomChoices(1)
    const before = await withKrmkit('one', [encryption], async (server) => {
      await prepare([server])
      const { strange } = await writeMixed([server], { writes, below: (limit) => choices.below(limit) })
      expect(strange).toEqual([])
      return objectsOf(server)
    })
    const [there, back] = [join(folder, 'there.db'), join(folder, 'back.db')]
    const exporting = ['storage', 'export', there, '--format=etcd-snapshot', '--data-dir', dataDir('one'), encryption]
    expect(await runCommand(exporting)).toMatchObject({ code: 0 })
    const status = JSON.parse(execFileSync(etcdutl!, ['snapshot', 'status', there, '-w', 'json']).toString())
    expect(status.totalKey).toBeGreaterThan(writes / 4)
    const use = async (stock: ApiEndpoint, etcd: EtcdProcess) => {
      const onStock = await objectsOf(stock)
      expectKept(onStock, before, (path) => !isOfMixed(path))
      await changeSome(stock, before)
      const changed = await objectsOf(stock)
      await saveSnapshot(etcd, back)
      const importing = ['storage', 'import', back, '--data-dir', dataDir('two'), encryption]
      expect(await runCommand(importing)).toMatchObject({ code: 0, err: expect.not.stringContaining('skipped') })
      await withKrmkit('two', [encryption], async (server) =>
        expectKept(await objectsOf(server), changed, (path) => !isOfMixed(path)),
      )
    }
    await stockOn(there, use, [encryption])
  },
  180_000,
)
