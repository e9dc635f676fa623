/** A remote store in memory behind a bad network: delays, lost and late requests, lost answers, broken subscriptions. */
import type { RandomChoices } from '../../../packages/base/src/random-choices.ts'
import {
  type RemoteBackend,
  type RemoteEntry,
  type RemoteEvent,
  type RemoteSink,
  type RemoteWrite,
  RemoteWriteError,
  type RemoteWriteResult,
} from '../../../packages/storage/src/follower/remote-backend.ts'
import type { Entry, Storage, StorageEvent } from '../../../packages/storage/src/interfaces.ts'
import { StorageError } from '../../../packages/storage/src/storage-error.ts'
import { type FaultCounts, pause } from './backend.ts'

/** Chances in percent. */
const chances = { lostAnswer: 3, lostRequest: 2, lateRequest: 2, refused: 2, failedRead: 3, brokenWatch: 4, stall: 2 } as const
const stallMs = 250

export class FaultyBackend implements RemoteBackend {
  readonly #remote: Storage
  readonly #choices: RandomChoices
  readonly #faults: FaultCounts

  constructor(remote: Storage, choices: RandomChoices, faults: FaultCounts) {
    this.#remote = remote
    this.#choices = choices
    this.#faults = faults
  }

  async revision() {
    await this.#travel()
    if (this.#happens('failedRead')) throw new Error('the network failed')
    const { revision } = this.#remote
    await this.#travel()
    return revision
  }

  async oldest() {
    return this.#remote.compacted
  }

  async load(at?: number) {
    const { revision, entries } = await this.#remote.list({ prefix: '/', ...(at === undefined ? {} : { at }) })
    await this.#travel()
    return { revision, entries: onePage(entries.map(remoteEntry)) }
  }

  async subscribe(from: number, sink: RemoteSink) {
    await this.#travel()
    const state = { isOpen: true, revision: from }
    const end = (reason: 'compacted' | 'lost') => {
      if (state.isOpen) sink.ended(reason)
      state.isOpen = false
    }
    let watcher: ReturnType<Storage['watch']>
    try {
      watcher = this.#remote.watch({ prefix: '/', from })
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'Compacted')) throw error
      setImmediate(() => end('compacted'))
      return { requestProgress: () => undefined, close: () => undefined }
    }
    const pump = async () => {
      while (state.isOpen) {
        const events = watcher.take(1 + this.#choices.below(4))
        const { revision } = watcher
        if (watcher.ended !== undefined || this.#happens('brokenWatch')) return end('lost')
        if (this.#happens('stall')) await pause(stallMs)
        await this.#travel()
        if (!state.isOpen) return
        if (events.length > 0) sink.events(events.map(remoteEvent))
        else sink.progress(revision)
      }
    }
    void pump().finally(() => watcher.close())
    return {
      requestProgress: () => undefined,
      close: () => {
        state.isOpen = false
      },
    }
  }

  async write(write: RemoteWrite): Promise<RemoteWriteResult> {
    await this.#travel()
    if (this.#happens('refused')) throw new RemoteWriteError('no connection', { isRefused: true })
    if (this.#happens('lostRequest')) {
      await pause(stallMs / 2)
      throw new RemoteWriteError('no answer', { isRefused: false })
    }
    if (this.#happens('lateRequest')) {
      void pause(this.#choices.below(stallMs)).then(() => this.#apply(write))
      throw new RemoteWriteError('no answer', { isRefused: false })
    }
    const result = await this.#apply(write)
    await this.#travel()
    if (this.#happens('lostAnswer')) throw new RemoteWriteError('no answer', { isRefused: false })
    return result
  }

  async compact(revision: number) {
    await this.#remote.compact(Math.min(revision, this.#remote.revision))
  }

  close() {
    // The remote store stays open for others.
  }

  async #apply({ type, key, value, expect }: RemoteWrite): Promise<RemoteWriteResult> {
    const result = await this.#remote[type](key, () => value, { expect })
    return { outcome: result.outcome, revision: this.#remote.revision }
  }

  #happens(fault: keyof typeof chances): boolean {
    const happens = this.#choices.chance(chances[fault])
    if (happens) this.#faults.add(fault)
    return happens
  }

  async #travel(): Promise<void> {
    if (this.#choices.chance(60)) await new Promise((resolve) => setImmediate(resolve))
    else await pause(this.#choices.below(6))
  }
}

function remoteEntry({ key, value, revision, created }: Entry): RemoteEntry {
  return { key, value, revision, created }
}

function remoteEvent({ type, entry, key, revision }: StorageEvent): RemoteEvent {
  return type === 'put' ? { type, entry: remoteEntry(entry) } : { type, key, revision }
}

async function* onePage(entries: readonly RemoteEntry[]) {
  yield entries
}
