/**
 * A kube-apiserver and krmkit on one etcd, with one encryption configuration. Needs the programs that `KRMKIT_ETCD` and
 * `KRMKIT_KUBE_APISERVER` name.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serve } from '../../packages/cli/src/serve.ts'
import { serveOptions } from '../../packages/cli/src/testing/run-command.ts'
import { ApiEndpoint } from '../../packages/conformance/src/api-endpoint.ts'
import { EtcdClient } from '../../packages/storage/src/etcd/etcd-client.ts'
import { EtcdProcess, etcdProgram } from '../../packages/storage/src/etcd/testing/etcd-process.ts'
import { StockServer, writeTokens } from './stock-server.ts'

const etcdPath = etcdProgram()
const stockPath = process.env.KRMKIT_KUBE_APISERVER
const token = 'admin-token'
const keys = [{ name: 'key1', secret: Buffer.alloc(32, 5).toString('base64') }]
const configuration = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'EncryptionConfiguration',
  resources: [
    { resources: ['secrets'], providers: [{ secretbox: { keys } }] },
    { resources: ['configmaps'], providers: [{ aesgcm: { keys } }, { identity: {} }] },
    { resources: ['*.*'], providers: [{ aescbc: { keys } }] },
  ],
}
const providers = { secrets: 'secretbox', configmaps: 'aesgcm', serviceaccounts: 'aescbc' }
const kinds = { secrets: 'Secret', configmaps: 'ConfigMap', serviceaccounts: 'ServiceAccount' }

it.skipIf(etcdPath === undefined || stockPath === undefined)(
  'a kube-apiserver and krmkit read the encrypted values of each other',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'krmkit-encrypted-'))
    const file = join(folder, 'encryption.json')
    await writeFile(file, JSON.stringify(configuration))
    const flag = `--encryption-provider-config=${file}`
    const closing: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })]
    try {
      await compare({ folder, flag, closing })
    } finally {
      for (const close of closing.reverse()) await close()
    }
  },
  90_000,
)

interface Setting {
  readonly folder: string
  readonly flag: string
  readonly closing: (() => unknown)[]
}

async function compare({ folder, flag, closing }: Setting): Promise<void> {
  const etcd = await EtcdProcess.start(etcdPath!)
  closing.push(() => etcd.dispose())
  const stock = await StockServer.start(stockPath!, { etcd: etcd.url, folder, token, flags: [flag] })
  closing.push(() => stock.close())
  const logged: unknown[] = []
  const log = { info: () => undefined, error: (...what: unknown[]) => void logged.push(what) }
  const flags = [
    '--storage=etcd',
    `--etcd-servers=${etcd.url}`,
    `--token-auth-file=${writeTokens(folder, token)}`,
    '--controllers=',
  ]
  const options = await serveOptions(join(folder, 'data'), [...flags, flag])
  const running = await serve(options, log)
  closing.push(() => running.close())
  const own = new ApiEndpoint('krmkit', Number(new URL(running.url).port), token)
  const client = new EtcdClient({ endpoints: [etcd.url], tls: undefined, timeoutMs: 5000 })
  closing.push(
    () => client.close(),
    () => own.close(),
  )
  for (const [writer, reader] of [
    [stock.endpoint, own],
    [own, stock.endpoint],
  ] as const) {
    for (const resource of ['secrets', 'configmaps', 'serviceaccounts'] as const) {
      const name = `by-${writer.name}`
      const path = `/api/v1/namespaces/default/${resource}`
      const object = { apiVersion: 'v1', kind: kinds[resource], metadata: { name, labels: { word: 'open-sesame' } } }
      expect((await writer.send('POST', path, object)).status, `${name} ${resource}`).toBe(201)
      const read = await reader.send('GET', `${path}/${name}`)
      expect([read.status, JSON.parse(read.text).metadata.labels], `${name} ${resource}`).toEqual([200, { word: 'open-sesame' }])
      const patch = { metadata: { labels: { again: 'yes' } } }
      expect((await reader.send('PATCH', `${path}/${name}`, patch, 'application/merge-patch+json')).status).toBe(200)
      const { kvs } = await client.range({ key: Buffer.from(`/registry/${resource}/default/${name}`) })
      const stored = Buffer.from(kvs[0]!.value).toString('latin1')
      expect([stored.startsWith(`k8s:enc:${providers[resource]}:v1:key1:`), stored.includes('sesame')]).toEqual([true, false])
    }
  }
  expect(logged).toEqual([])
}
