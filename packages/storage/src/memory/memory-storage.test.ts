import { describe, it } from 'vitest'
import { storageSuite } from '../testing/index.ts'
import { fork, memoryStorage } from './memory-storage.ts'

storageSuite(
  'memory',
  async (options) => {
    const storage = memoryStorage(options)
    return { storage, dispose: () => storage.close() }
  },
  { runner: { describe, it }, persistent: false, seeds: Array.from({ length: 40 }, (_, at) => at + 1) },
)

storageSuite(
  'forked memory',
  async (options) => {
    const original = memoryStorage(options)
    await original.put('/z/elsewhere', () => new Uint8Array())
    await original.delete('/z/elsewhere', () => new Uint8Array())
    const storage = fork(original, options)
    return {
      storage,
      dispose: async () => {
        await storage.close()
        await original.close()
      },
    }
  },
  { runner: { describe, it }, persistent: false },
)
