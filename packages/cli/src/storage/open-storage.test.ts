import { createCatalog } from '@krmkit/kinds'
import { describe, expect, it } from 'vitest'
import { serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { openStorage } from './open-storage.ts'

const folder = temporaryFolder({ perTest: true })

const log = { info: () => undefined, error: () => undefined }
const open = async (...flags: string[]) => openStorage(await serveOptions(folder, flags), { catalog: createCatalog(), log })

describe('--storage=etcd', () => {
  it('needs the members of etcd', async () => {
    await expect(open('--storage=etcd')).rejects.toMatchObject({
      code: 'InvalidFlag',
      message: '--storage=etcd needs --etcd-servers',
    })
  })

  it('needs both files of a certificate', async () => {
    const flags = ['--storage=etcd', '--etcd-servers=https://127.0.0.1:1', '--etcd-certfile=a.crt']
    await expect(open(...flags)).rejects.toMatchObject({ message: '--etcd-certfile and --etcd-keyfile go together' })
  })

  it('names a file that cannot be read', async () => {
    const flags = ['--storage=etcd', '--etcd-servers=https://127.0.0.1:1', `--etcd-cafile=${folder}/none`]
    await expect(open(...flags)).rejects.toMatchObject({ message: expect.stringContaining('--etcd-cafile') })
  })
})
