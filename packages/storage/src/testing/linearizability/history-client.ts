/** The operations of a client in a recorded history, with text values. */
import type { Entry, Revision, Storage } from '../../interfaces.ts'
import { StorageError } from '../../storage-error.ts'
import { historyPrefix, type SeenValue } from './operation.ts'

export type ClientWriteResult =
  | { readonly outcome: 'written'; readonly revision: Revision }
  | { readonly outcome: 'conflict'; readonly current: SeenValue | undefined }
  /** The write may have happened, or may still happen. */
  | { readonly outcome: 'unknown' }
  /** The write has not happened, and will not. */
  | { readonly outcome: 'refused' }

export type ClientWrite =
  | { readonly type: 'put'; readonly key: string; readonly value: string; readonly expect?: Revision | undefined }
  | { readonly type: 'delete'; readonly key: string; readonly expect?: Revision | undefined }

export interface ClientList {
  readonly revision: Revision
  readonly entries: readonly (SeenValue & { readonly key: string })[]
}

/** Reads reflect every write that was acknowledged before the call. Reads reject when the store is not available. */
export interface HistoryClient {
  write(write: ClientWrite): Promise<ClientWriteResult>
  get(key: string): Promise<SeenValue | undefined>
  list(): Promise<ClientList>
}

/**
 * A client of a store in this process.
 *
 * @see {@link recordHistory} with an example
 */
export function clientOf(storage: Storage): HistoryClient {
  return {
    async write({ type, key, expect, ...rest }) {
      const encode = () => new TextEncoder().encode('value' in rest ? rest.value : '')
      try {
        const result = await storage[type](key, encode, expect === undefined ? {} : { expect })
        if (result.outcome === 'written') return { outcome: 'written', revision: result.entry.revision }
        return { outcome: 'conflict', current: seen(result.current) }
      } catch (error) {
        if (!(error instanceof StorageError) || error.detail.code !== 'Unavailable') throw error
        return { outcome: error.detail.reason === 'remote' ? 'refused' : 'unknown' }
      }
    },
    async get(key) {
      await storage.refresh?.()
      return seen(await storage.get(key))
    },
    async list() {
      await storage.refresh?.()
      const { revision, entries } = await storage.list({ prefix: historyPrefix })
      return { revision, entries: entries.map((entry) => ({ key: entry.key, ...seen(entry)! })) }
    },
  }
}

function seen(entry: Entry | undefined): SeenValue | undefined {
  return entry === undefined ? undefined : { value: new TextDecoder().decode(entry.value), revision: entry.revision }
}
