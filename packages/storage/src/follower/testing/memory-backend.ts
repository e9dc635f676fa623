import type { RemoteBackend, RemoteEntry, RemoteSink, RemoteWrite, RemoteWriteResult } from '../remote-backend.ts'

/** A remote store in memory, whose responses a test can change. */
export class MemoryBackend implements RemoteBackend {
  readonly entries = new Map<string, RemoteEntry>()
  readonly sent: RemoteWrite[] = []
  newest = 1
  answer: (write: RemoteWrite) => Promise<RemoteWriteResult> = async (write) => this.apply(write)
  #sink: RemoteSink | undefined

  async revision() {
    return this.newest
  }

  async oldest() {
    return 1
  }

  /** Ends the subscription after changes whose events were compacted. */
  forget(change: () => void): void {
    const sink = this.#sink
    this.#sink = undefined
    change()
    sink?.ended('compacted')
  }

  /** Stops delivering events, without ending the subscription. Later subscriptions get no events either. */
  silence(): void {
    this.#sink = undefined
    this.subscribe = async () => ({ requestProgress: () => undefined, close: () => undefined })
  }

  async load() {
    const entries = [...this.entries.values()]
    return { revision: this.newest, entries: onePage(entries) }
  }

  async subscribe(_from: number, sink: RemoteSink) {
    this.#sink = sink
    return { requestProgress: () => this.#sink?.progress(this.newest), close: () => undefined }
  }

  write(write: RemoteWrite) {
    this.sent.push(write)
    return this.answer(write)
  }

  async compact() {}

  close() {}

  /** Stores a write, and delivers its event at once. */
  apply({ type, key, value, expect }: RemoteWrite): RemoteWriteResult {
    const current = this.entries.get(key)
    if ((current?.revision ?? 0) !== expect) return { outcome: 'conflict', revision: this.newest }
    const revision = ++this.newest
    if (type === 'delete') {
      this.entries.delete(key)
      this.#sink?.events([{ type, key, revision }])
    } else {
      const entry = { key, value, revision, created: current?.created ?? revision }
      this.entries.set(key, entry)
      this.#sink?.events([{ type, entry }])
    }
    return { outcome: 'written', revision }
  }
}

async function* onePage(entries: readonly RemoteEntry[]) {
  yield entries
}
