/** Histories of the store in memory, whose history is compacted meanwhile. */
import { memoryStorage } from '../../../packages/storage/src/memory/memory-storage.ts'
import { clientOf } from '../../../packages/storage/src/testing/linearizability/history-client.ts'
import { recordHistory } from '../../../packages/storage/src/testing/linearizability/record-history.ts'
import { briefly, FaultCounts, type HistoryBackend } from './backend.ts'

export async function openMemory(): Promise<HistoryBackend> {
  const faults = new FaultCounts()
  const recordOne = async (seed: number) => {
    const storage = memoryStorage()
    const clients = Array.from({ length: 8 }, () => clientOf(storage))
    const compact = (done: number) => {
      if (done % 50 !== 0) return
      faults.add('compacted')
      void storage.compact(storage.revision)
    }
    const history = await recordHistory({ clients, seed, pause: briefly, onProgress: compact })
    await storage.close()
    return history
  }
  return {
    together: 4,
    record: (seeds) => Promise.all(seeds.map(recordOne)),
    faults: faults.counts,
    close: async () => undefined,
  }
}
