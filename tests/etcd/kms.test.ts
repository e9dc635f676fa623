/**
 * A kube-apiserver and krmkit on one etcd, with one KMS plugin. Needs the programs that `KRMKIT_ETCD` and `KRMKIT_KUBE_APISERVER` name.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serve } from '../../packages/cli/src/serve.ts'
import { serveOptions } from '../../packages/cli/src/testing/run-command.ts'
import { ApiEndpoint } from '../../packages/conformance/src/api-endpoint.ts'
import { encryptedObject, seedSource } from '../../packages/storage/src/encryption/kms/messages.ts'
import { FakeKms } from '../../packages/storage/src/encryption/kms/testing/fake-kms.ts'
import { EtcdClient } from '../../packages/storage/src/etcd/etcd-client.ts'
import { EtcdProcess, etcdProgram } from '../../packages/storage/src/etcd/testing/etcd-process.ts'
import { StockServer, writeTokens } from './stock-server.ts'

const etcdPath = etcdProgram()
const stockPath = process.env.KRMKIT_KUBE_APISERVER
const prefix = 'k8s:enc:kms:v2:vault:'
const secrets = '/api/v1/namespaces/default/secrets'
const secret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { word: 'open-sesame' } })

it.skipIf(etcdPath === undefined || stockPath === undefined)(
  'a kube-apiserver and krmkit read values of each other that a KMS plugin encrypted, and report the plugin in /readyz',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'krmkit-kms-'))
    const closing: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })]
    try {
      const kms = new FakeKms(join(folder, 'kms.sock'))
      await kms.start()
      closing.push(() => kms.stop())
      const { stock, own, client } = await startServers({ folder, endpoint: kms.endpoint, closing })
      for (const [writer, reader] of [
        [stock, own],
        [own, stock],
      ] as const) {
        const path = `${secrets}/by-${writer.name}`
        expect((await writer.send('POST', secrets, secret(`by-${writer.name}`))).status, writer.name).toBe(201)
        const read = await reader.send('GET', path)
        expect([read.status, JSON.parse(read.text).data], reader.name).toEqual([
          200,
          { word: Buffer.from('open-sesame').toString('base64') },
        ])
        const { kvs } = await client.range({ key: Buffer.from(`/registry/secrets/default/by-${writer.name}`) })
        const stored = Buffer.from(kvs[0]!.value)
        expect(stored.toString('latin1').startsWith(prefix)).toBe(true)
        const object = encryptedObject.decode(stored.subarray(prefix.length))
        expect([object.keyId, object.sourceType, object.annotations.length]).toEqual(['key-1', seedSource, 1])
        expect(stored.includes('sesame')).toBe(false)
      }
      // Each server has a seed.
      expect(kms.calls.Encrypt).toBe(2)
      kms.healthz = 'sealed'
      for (const server of [stock, own]) {
        const path = '/readyz/kms-providers'
        await expect
          .poll(async () => (await server.send('GET', path)).text, { timeout: 40_000, interval: 1000 })
          .toContain('kms-provider-0: kmsv2 Provider vault is not healthy, error: got unexpected healthz status: sealed')
        expect((await server.send('GET', path)).status).toBe(500)
      }
    } finally {
      for (const close of closing.reverse()) await close()
    }
  },
  150_000,
)

async function startServers({
  folder,
  endpoint,
  closing,
}: {
  readonly folder: string
  readonly endpoint: string
  readonly closing: (() => unknown)[]
}) {
  const file = join(folder, 'encryption.json')
  const plugin = { apiVersion: 'v2', name: 'vault', endpoint, timeout: '3s' }
  const head = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' }
  const resources = [{ resources: ['secrets'], providers: [{ kms: plugin }, { identity: {} }] }]
  await writeFile(file, JSON.stringify({ ...head, resources }))
  const flag = `--encryption-provider-config=${file}`
  const etcd = await EtcdProcess.start(etcdPath!)
  closing.push(() => etcd.dispose())
  const token = 'admin-token'
  const stock = await StockServer.start(stockPath!, { etcd: etcd.url, folder, token, flags: [flag] })
  closing.push(() => stock.close())
  const flags = ['--storage=etcd', `--etcd-servers=${etcd.url}`, `--token-auth-file=${writeTokens(folder, token)}`]
  const options = await serveOptions(join(folder, 'data'), [...flags, '--controllers=', flag])
  const running = await serve(options, { info: () => undefined, error: () => undefined })
  closing.push(() => running.close())
  const own = new ApiEndpoint('krmkit', Number(new URL(running.url).port), token)
  const client = new EtcdClient({ endpoints: [etcd.url], timeoutMs: 5000 })
  closing.push(
    () => client.close(),
    () => own.close(),
  )
  return { stock: stock.endpoint, own, client }
}
