import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { serve } from './serve.ts'
import { serveOptions } from './testing/run-command.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

const folder = temporaryFolder({ perTest: true })
beforeEach(async () => {
  await chmod(folder, 0o755)
})

const start = async (...flags: string[]) => {
  return serve(await serveOptions(`${folder}/data`, flags), { info: () => {}, error: () => {} })
}

/** Modes of a folder and of all its files. */
async function modesIn(path: string): Promise<Record<string, string>> {
  const names = (await readdir(path, { recursive: true })).sort()
  const modes = await Promise.all(['.', ...names].map(async (name) => [name, (await stat(join(path, name))).mode] as const))
  return Object.fromEntries(modes.map(([name, mode]) => [name, (mode & 0o777).toString(8)]))
}

describe('files of the server', () => {
  it('are readable by their owner only', async () => {
    const data = join(folder, 'new', 'data')
    const flags = [`--data-dir=${data}`, '--storage=durable', `--audit-log-path=${join(data, 'log', 'audit.log')}`]
    const policy = join(folder, 'policy.yaml')
    await writeFile(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n')
    const serving = await start(...flags, `--audit-policy-file=${policy}`)
    await serving.close()
    const modes = await modesIn(data)
    const expected = Object.keys(modes).map((name) => {
      const isFolder = ['.', 'data', 'pki', 'log'].includes(name)
      return [name, isFolder ? '700' : name.endsWith('.crt') ? '644' : '600']
    })
    expect(modes).toEqual(Object.fromEntries(expected))
    expect(Object.keys(modes)).toEqual(
      expect.arrayContaining([
        'data/data.mdb',
        'data/lock.mdb',
        'admin.token',
        'admin.kubeconfig',
        'pki/sa.key',
        'log/audit.log',
      ]),
    )
  })

  it('are restricted to their owner at the next start', async () => {
    const flags = [`--data-dir=${folder}/data`, '--storage=durable']
    await (await start(...flags)).close()
    const data = join(folder, 'data')
    const before = await modesIn(data)
    for (const name of Object.keys(before)) await chmod(join(data, name), ['.', 'data', 'pki'].includes(name) ? 0o755 : 0o644)
    await (await start(...flags)).close()
    expect(await modesIn(data)).toEqual(before)
  })

  it('are not written to a data folder that cannot be created or is shared', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    await expect(start(`--data-dir=${file}/data`, '--storage=durable')).rejects.toThrow(`--data-dir: ${file} is not a folder`)
    await expect(start(`--data-dir=${file}`)).rejects.toThrow(`--data-dir: ${file} is not a folder`)
    const shared = join(folder, 'shared')
    await mkdir(shared)
    await chmod(shared, 0o1777)
    await expect(start(`--data-dir=${shared}`)).rejects.toThrow('is shared with other users (mode 1777)')
    expect(await readdir(shared)).toEqual([])
  })

  it.skipIf(process.platform !== 'linux')(
    'end the start when the data folder cannot be made, with the flag and the reason',
    async () => {
      const file = join(folder, 'file')
      await writeFile(file, '')
      // A recursive mkdir of node never returns in /proc.
      for (const path of ['/proc/nowhere/data', `${file}/data`]) {
        for (const storage of ['durable', 'memory']) {
          const reason = path.startsWith('/proc') ? 'no such file or directory' : `${file} is not a folder`
          await expect(start(`--data-dir=${path}`, `--storage=${storage}`)).rejects.toMatchObject({
            code: 'FileFailed',
            message: expect.stringMatching(new RegExp(`^--data-dir: .*${reason}`)),
          })
        }
      }
    },
  )

  it('an unreadable administrator token is not replaced', async () => {
    await mkdir(join(folder, 'data'))
    await writeFile(join(folder, 'data', 'admin.token'), 'short\n')
    await expect(start(`--data-dir=${folder}/data`)).rejects.toThrow('admin.token holds no token')
  })
})
