/** Histories of three followers of one remote store, each behind a bad network. */
import { RandomChoices } from '../../../packages/base/src/random-choices.ts'
import { Follower } from '../../../packages/storage/src/follower/follower.ts'
import { opaqueForm } from '../../../packages/storage/src/follower/stored-form.ts'
import { memoryStorage } from '../../../packages/storage/src/memory/memory-storage.ts'
import { resolveOptions } from '../../../packages/storage/src/options.ts'
import { clientOf } from '../../../packages/storage/src/testing/linearizability/history-client.ts'
import { recordHistory } from '../../../packages/storage/src/testing/linearizability/record-history.ts'
import { briefly, FaultCounts, type HistoryBackend, pause } from './backend.ts'
import { FaultyBackend } from './faulty-backend.ts'

const timeoutMs = 400

export async function openFollower(): Promise<HistoryBackend> {
  const faults = new FaultCounts()
  const recordOne = async (seed: number) => {
    const remote = memoryStorage()
    const followers = await Promise.all(
      [1, 2, 3].map((number) => follow(new FaultyBackend(remote, new RandomChoices(seed, 1000 + number), faults))),
    )
    const clients = followers.flatMap((follower) => [clientOf(follower), clientOf(follower)])
    const compact = (done: number) => {
      if (done % 60 !== 0) return
      faults.add('compacted')
      void remote.compact(remote.revision)
    }
    const history = await recordHistory({ clients, seed, pause: briefly, onProgress: compact })
    await Promise.all(followers.map((follower) => follower.close()))
    await remote.close()
    return history
  }
  return {
    together: 8,
    record: (seeds) => Promise.all(seeds.map(recordOne)),
    faults: faults.counts,
    close: async () => undefined,
  }
}

async function follow(backend: FaultyBackend): Promise<Follower> {
  const limits = resolveOptions({})
  for (let attempt = 1; ; attempt++) {
    try {
      return await Follower.open({ backend, form: opaqueForm, limits, timeoutMs, onError: () => undefined })
    } catch (error) {
      // The network can fail while the store is opened.
      if (attempt === 10) throw error
      await pause(20)
    }
  }
}
