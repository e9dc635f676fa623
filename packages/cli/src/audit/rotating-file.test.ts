import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { openRotatingFile, type RotationOptions } from './rotating-file.ts'

const folder = temporaryFolder({ perTest: true })

const clock = fakeClock(Date.UTC(2024, 0, 1))
const opened = (options: Partial<RotationOptions> = {}) =>
  openRotatingFile(join(folder, 'deep', 'audit.log'), {
    clock,
    maxBytes: 10,
    maxAgeMs: 0,
    maxBackups: 0,
    compress: false,
    ...options,
  })
const names = async () => (await readdir(join(folder, 'deep'))).sort()
const textOf = (name: string) => readFile(join(folder, 'deep', name), 'utf8')

describe('a rotating log file', () => {
  it('writes texts in order to a file with mode 0600', async () => {
    const file = await opened({ maxBytes: 1000 })
    await Promise.all(['a\n', 'b\n', 'c\n'].map((text) => file.write(text)))
    await file.close?.()
    expect(await textOf('audit.log')).toBe('a\nb\nc\n')
    expect((await stat(join(folder, 'deep', 'audit.log'))).mode & 0o777).toBe(0o600)
  })

  it('appends to an existing file', async () => {
    for (const text of ['a\n', 'b\n']) {
      const file = await opened()
      await file.write(text)
      await file.close?.()
    }
    expect(await textOf('audit.log')).toBe('a\nb\n')
  })

  it('is rotated before it grows too large', async () => {
    const file = await opened()
    await file.write('12345678\n')
    await file.write('90\n')
    await file.close?.()
    expect(await names()).toEqual(['audit-2024-01-01T00-00-00.000.log', 'audit.log'])
    expect([await textOf('audit-2024-01-01T00-00-00.000.log'), await textOf('audit.log')]).toEqual(['12345678\n', '90\n'])
  })

  it('deletes rotated files by number and age', async () => {
    const day = 24 * 60 * 60 * 1000
    const few = await opened({ maxBackups: 2 })
    for (let i = 0; i < 5; i++) {
      clock.advance(1000)
      await few.write('123456789\n')
    }
    await few.close?.()
    expect(await names()).toHaveLength(3)
    clock.advance(3 * day)
    const young = await opened({ maxAgeMs: 2 * day })
    await young.write('123456789\n')
    await young.close?.()
    expect(await names()).toHaveLength(2)
  })

  it('compresses rotated files', async () => {
    const file = await opened({ compress: true })
    await file.write('12345678\n')
    await file.write('90\n')
    await file.close?.()
    const [packed = ''] = await names()
    expect(packed).toMatch(/\.log\.gz$/)
    expect(gunzipSync(await readFile(join(folder, 'deep', packed))).toString()).toBe('12345678\n')
  })
})
