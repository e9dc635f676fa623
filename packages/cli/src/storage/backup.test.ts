import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createRemoteClient, loadKubeconfig, resourceType } from '@krmkit/client'
import { describe, expect, it } from 'vitest'
import { testTerminal } from '../offline/testing/test-terminal.ts'
import { serve } from '../serve.ts'
import { runCommand, serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const folder = temporaryFolder({ perTest: true })

const log = { info: () => undefined, error: () => undefined }
const configMaps = resourceType({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })

async function withServer<T>(dataDir: string, use: (client: ReturnType<typeof createRemoteClient>) => Promise<T>): Promise<T> {
  const server = await serve(await serveOptions(dataDir, ['--controllers=', '--storage=durable']), log)
  const client = createRemoteClient(await loadKubeconfig({ path: server.kubeconfig ?? '' }))
  try {
    return await use(client)
  } finally {
    await client.close()
    await server.close()
  }
}

async function makeBackup(): Promise<string> {
  const file = `${folder}/krmkit.backup`
  await withServer(`${folder}/from`, async (client) => {
    await client.create(configMaps, { metadata: { name: 'a', namespace: 'default' }, data: { a: '1' } })
    const { code, err } = await runCommand(['backup', '--data-dir', `${folder}/from`, file])
    expect([code, err]).toEqual([0, expect.stringMatching(/backup at revision \d+, \d+ records\n$/)])
    await client.create(configMaps, { metadata: { name: 'later', namespace: 'default' } })
  })
  return file
}

describe('krmkit backup and krmkit restore', () => {
  it('restore what a running server had at the time of the backup', async () => {
    const file = await makeBackup()
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const { code, err } = await runCommand(['restore', file, '--data-dir', `${folder}/to`])
    expect([code, err]).toEqual([0, expect.stringMatching(/restored to revision \d+/)])
    await withServer(`${folder}/to`, async (client) => {
      expect(await client.get(configMaps, 'a', { namespace: 'default' })).toMatchObject({ data: { a: '1' } })
      await expect(client.get(configMaps, 'later', { namespace: 'default' })).rejects.toMatchObject({
        status: { reason: 'NotFound' },
      })
    })
  })

  it('use standard output and standard input', async () => {
    const file = await makeBackup()
    await runCommand(['restore', file, '--data-dir', `${folder}/to`])
    const { out } = await runCommand(['backup', '--data-dir', `${folder}/to`])
    const inBytes = async function* () {
      yield Buffer.from(out, 'latin1')
    }
    const { code } = await runCommand(['restore', '-', '--data-dir', `${folder}/again`], testTerminal({ inBytes }))
    expect([code, Buffer.from(out, 'latin1')]).toEqual([0, await readFile(file)])
  })

  it('explain what to do about a folder in use, a missing file and a damaged backup', async () => {
    const file = await makeBackup()
    const failing = async (...args: string[]) => {
      const { code, err } = await runCommand(args)
      return [code, err]
    }
    const to = ['--data-dir', `${folder}/to`]
    expect(await failing('restore', file, '--data-dir', `${folder}/from`)).toEqual([
      2,
      expect.stringContaining('/from/data is not empty: move it away, or choose another folder'),
    ])
    expect(await failing('restore', `${folder}/none`, ...to)).toEqual([2, expect.stringContaining('cannot read')])
    await writeFile(file, (await readFile(file)).subarray(0, -10))
    expect(await failing('restore', file, ...to)).toEqual([2, expect.stringContaining('the backup ends early')])
    expect(await readdir(`${folder}/to`)).toEqual([])
    expect(await failing('backup', '--data-dir', `${folder}/none`)).toEqual([
      2,
      expect.stringContaining('contains no durable store: "krmkit serve --storage durable" and lmdbStorage() create one'),
    ])
  })

  it('leave no file after a failed backup', async () => {
    const { code } = await runCommand(['backup', '--data-dir', `${folder}/none`, `${folder}/file`])
    expect([code, await readdir(folder)]).toEqual([2, []])
  })
})
