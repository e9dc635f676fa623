import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { lmdbStorage } from './lmdb-storage.ts'

vi.mock('lmdb', () => {
  throw new Error('Cannot find package')
})

it('refuses to open a durable store when lmdb cannot be loaded', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'krmkit-storage-'))
  try {
    await expect(lmdbStorage({ dir })).rejects.toMatchObject({
      code: 'Unavailable',
      detail: { reason: 'module', problem: expect.stringContaining('needs the package lmdb') },
    })
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})
