import { lmdbStorage } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const folder = temporaryFolder({ perTest: true })

const compact = () => runCommand(['storage', 'compact', '--data-dir', folder])

describe('krmkit storage compact', () => {
  it('prints the sizes before and after', async () => {
    const storage = await lmdbStorage({ dir: `${folder}/data` })
    for (let n = 0; n < 5; n++) {
      await Promise.all(Array.from({ length: 200 }, (_, key) => storage.put(`/a/${key}`, () => new Uint8Array(2000))))
    }
    await storage.compact(storage.revision)
    const inUse = await compact()
    expect([inUse.code, inUse.err]).toEqual([2, expect.stringContaining('is in use by this process')])
    await storage.close()
    const { code, out } = await compact()
    const [before = 0, after = 0] = [...out.matchAll(/([\d.]+) MB/g)].map(([, size]) => Number(size))
    expect([code, after > 0, after < before / 2]).toEqual([0, true, true])
  })
})
