import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fakeClock } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { temporaryFolder } from './testing/temporary-folder.ts'
import { watchFile } from './watched-file.ts'

const folder = temporaryFolder()

it('reloads a replaced file, and keeps the last text of a deleted one', async () => {
  const path = join(folder, 'file')
  await writeFile(path, 'one')
  const clock = fakeClock()
  const heard: unknown[] = []
  const next = () =>
    new Promise<void>((resolve) => {
      const look = () => (clock.pending > 0 ? resolve() : setImmediate(look))
      clock.advance(10_000)
      look()
    })
  using file = await watchFile(path, {
    clock,
    onError: (error) => heard.push((error as NodeJS.ErrnoException).code),
    onChange: (text) => heard.push(text),
  })
  await next()
  expect([file.text, heard]).toEqual(['one', []])
  await writeFile(join(folder, 'new'), 'two')
  await rename(join(folder, 'new'), path)
  expect(file.text).toBe('one')
  await next()
  expect([file.text, heard]).toEqual(['two', ['two']])
  await rm(path)
  await next()
  expect([file.text, heard]).toEqual(['two', ['two', 'ENOENT']])
  await writeFile(path, 'three')
  await next()
  expect(file.text).toBe('three')
})

it('rejects a missing file at the start', async () => {
  await expect(watchFile(join(folder, 'nowhere'), { clock: fakeClock(), onError: () => undefined })).rejects.toThrow('ENOENT')
})
