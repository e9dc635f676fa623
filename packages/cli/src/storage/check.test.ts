import { readFile, writeFile } from 'node:fs/promises'
import { lmdbStorage } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { serve } from '../serve.ts'
import { runCommand, serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const folder = temporaryFolder({ perTest: true })

const check = () => runCommand(['storage', 'check', '--data-dir', folder])

describe('krmkit storage check', () => {
  it('reads all that a running server has stored', async () => {
    const log = { info: () => undefined, error: () => undefined }
    const server = await serve(await serveOptions(folder, ['--storage=durable']), log)
    try {
      const { code, out } = await check()
      expect([code, out]).toEqual([0, expect.stringMatching(/\d{2,} records up to revision \d+; nothing is damaged\n$/)])
    } finally {
      await server.close()
    }
  })

  it('names damaged objects and says what to do', async () => {
    const storage = await lmdbStorage({ dir: `${folder}/data` })
    await storage.put('/core/configmaps/default/a', () => Buffer.from('{"a":"flipped"}'))
    await storage.put('/core/configmaps/default/b', () => Buffer.from('{"a":'))
    await storage.close()
    const path = `${folder}/data/data.mdb`
    const bytes = await readFile(path)
    for (let at = bytes.indexOf('flipped'); at !== -1; at = bytes.indexOf('flipped', at + 1)) bytes[at]! ^= 1
    await writeFile(path, bytes)
    const { code, out, err } = await check()
    expect(code).toBe(1)
    expect(out.split('\n')).toEqual([
      '/core/configmaps/default/a: revision 2: the record is damaged',
      expect.stringMatching(/^\/core\/configmaps\/default\/b: revision 3: the value cannot be decoded: /),
      `${folder}/data: 2 records up to revision 3; 2 problems`,
      '',
    ])
    expect(err).toContain('restore a backup')
  })
})
