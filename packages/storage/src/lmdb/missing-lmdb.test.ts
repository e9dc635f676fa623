import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { lmdbStorage } from './lmdb-storage.ts'

vi.mock('lmdb', () => {
  throw new Error("Cannot find module 'lmdb'\nRequire stack:\n- /index.js")
})

it('refuses to open a durable store when lmdb cannot be loaded', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'krmkit-storage-'))
  try {
    await expect(lmdbStorage({ dir })).rejects.toMatchObject({
      code: 'Unavailable',
      detail: {
        reason: 'module',
        problem: expect.stringMatching(
          /^durable storage needs the package lmdb, .*; install it \(npm install lmdb\), or choose storage in memory$/,
        ),
      },
    })
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})
