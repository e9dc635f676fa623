/** Moves objects between the embedded store and etcd. Needs the program that `KRMKIT_ETCD` names. */
import { rm } from 'node:fs/promises'
import { createRemoteClient, loadKubeconfig, resourceType } from '@krmkit/client'
import { expect, it } from 'vitest'
import { serve } from '../../packages/cli/src/serve.ts'
import { runCommand, serveOptions } from '../../packages/cli/src/testing/run-command.ts'
import { EtcdProcess, etcdProgram, withoutEtcd } from '../../packages/storage/src/etcd/testing/etcd-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const folder = temporaryFolder({ perTest: true })

const log = { info: () => undefined, error: () => undefined }
const configMaps = resourceType({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
const there = { namespace: 'default' }

async function withServer<T>(flags: readonly string[], use: (client: ReturnType<typeof createRemoteClient>) => Promise<T>) {
  const server = await serve(await serveOptions(`${folder}/data`, ['--controllers=', '--storage=durable', ...flags]), log)
  const client = createRemoteClient(await loadKubeconfig({ path: server.kubeconfig ?? '' }))
  try {
    return await use(client)
  } finally {
    await client.close()
    await server.close()
  }
}

const create = (client: ReturnType<typeof createRemoteClient>, name: string) =>
  client.create(configMaps, { metadata: { name, ...there }, data: { a: '1' } })

const program = etcdProgram()
it.skipIf(program === undefined)(
  `krmkit storage export and import move objects to etcd and back${program === undefined ? ` (${withoutEtcd})` : ''}`,
  async () => {
    const etcd = await EtcdProcess.start(program!)
    const etcdFlag = `--etcd-servers=${etcd.url}`
    try {
      const file = `${folder}/all.ndjson`
      const made = await withServer([], (client) => create(client, 'a'))
      expect((await runCommand(['storage', 'export', file, '--data-dir', `${folder}/data`])).code).toBe(0)
      const { code, err } = await runCommand(['storage', 'import', file, etcdFlag])
      expect([code, err]).toEqual([0, expect.stringContaining('objects imported')])
      await withServer(['--storage=etcd', etcdFlag], async (client) => {
        const { metadata, ...found } = await client.get(configMaps, 'a', there)
        expect({ ...found, metadata: { ...metadata, resourceVersion: made.metadata.resourceVersion } }).toEqual(made)
        await create(client, 'b')
      })
      expect((await runCommand(['storage', 'import', file, etcdFlag])).code).toBe(2)
      expect((await runCommand(['storage', 'export', `${folder}/back`, etcdFlag])).code).toBe(0)
      await rm(`${folder}/data/data`, { recursive: true })
      expect((await runCommand(['storage', 'import', `${folder}/back`, '--data-dir', `${folder}/data`])).code).toBe(0)
      await withServer([], async (client) => {
        const { items } = await client.list(configMaps, there)
        expect(items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['a', 'b']))
      })
    } finally {
      await etcd.dispose()
    }
  },
  90_000,
)
