import { readFile, rm, writeFile } from 'node:fs/promises'
import { createRemoteClient, loadKubeconfig, resourceType } from '@krmkit/client'
import { describe, expect, it } from 'vitest'
import { testTerminal } from '../offline/testing/test-terminal.ts'
import { serve } from '../serve.ts'
import { runCommand, serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

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

describe('krmkit storage export and import', () => {
  it('move the objects of a running server to another embedded store, with their resource versions', async () => {
    const file = `${folder}/all.ndjson`
    const made = await withServer([], async (client) => {
      const created = await create(client, 'a')
      const { code, err } = await runCommand(['storage', 'export', file, '--data-dir', `${folder}/data`])
      expect([code, err]).toEqual([0, expect.stringMatching(/^\d+ objects exported at revision \d+\n$/)])
      return created
    })
    await rm(`${folder}/data/data`, { recursive: true })
    const { code, err } = await runCommand(['storage', 'import', file, '--data-dir', `${folder}/data`])
    expect([code, err]).toEqual([0, expect.stringContaining('objects imported')])
    await withServer([], async (client) => {
      expect(await client.get(configMaps, 'a', there)).toEqual(made)
      await create(client, 'b')
    })
    expect((await runCommand(['storage', 'import', file, '--data-dir', `${folder}/data`])).code).toBe(2)
  })

  it('write a snapshot of etcd and read it from a file or standard input', async () => {
    const made = await withServer([], (client) => create(client, 'a'))
    const file = `${folder}/snapshot.db`
    const dir = ['--data-dir', `${folder}/data`]
    expect((await runCommand(['storage', 'export', file, '--format=etcd-snapshot', ...dir])).code).toBe(0)
    const bytes = await readFile(file)
    const inBytes = async function* () {
      for (let at = 0; at < bytes.length; at += 50) yield bytes.subarray(at, at + 50)
    }
    for (const source of [file, '-']) {
      await rm(`${folder}/data/data`, { recursive: true })
      const { code, err } = await runCommand(['storage', 'import', source, ...dir], testTerminal({ inBytes }))
      expect([code, err]).toEqual([0, expect.stringMatching(/^\d+ objects imported, exported at revision \d+\n$/)])
      await withServer([], async (client) => expect(await client.get(configMaps, 'a', there)).toEqual(made))
    }
    await writeFile(file, bytes.subarray(0, -32))
    await rm(`${folder}/data/data`, { recursive: true })
    const refused = await runCommand(['storage', 'import', file, ...dir])
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('has no checksum')])
    expect((await runCommand(['storage', 'import', file, '--skip-hash-check', ...dir])).code).toBe(0)
    expect((await runCommand(['storage', 'import', `${folder}/missing`, ...dir])).err).toContain('cannot read')
  })
})
