import type { Revision } from './interfaces.ts'

/** Why a store answers nothing or takes no writes. */
export type UnavailableReason =
  /** The journal below could not make a write durable; the store is read-only from then on. */
  | 'journal'
  /** Another process, or another opening in this one, holds the directory. */
  | 'locked'
  /** The directory holds something that this package did not write. */
  | 'foreign'
  /** The directory is ours, but what it holds cannot be read. */
  | 'corrupt'
  /** The directory cannot be reached or written. */
  | 'access'
  /** The optional package `lmdb` is not installed, or its native code cannot be loaded. */
  | 'module'

export type StorageErrorDetail =
  /** `requested` lies before the oldest revision that can still be read. */
  | { readonly code: 'Compacted'; readonly requested: Revision; readonly compacted: Revision; readonly current: Revision }
  /** `requested` has not happened yet: `waitFor` it first. */
  | { readonly code: 'FutureRevision'; readonly requested: Revision; readonly current: Revision }
  /** A write that ends so may or may not be found after the next opening: its outcome is unknown. */
  | { readonly code: 'Unavailable'; readonly reason: UnavailableReason; readonly problem: string }
  | { readonly code: 'Closed' }
  /** `key` cannot name an entry or a collection; `problem` says why. */
  | { readonly code: 'InvalidKey'; readonly key: string; readonly problem: string }

/** The one error of this package. `detail` is for programs, `message` for people. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
  readonly detail: StorageErrorDetail

  constructor(detail: StorageErrorDetail, options?: ErrorOptions) {
    super(messageOf(detail), options)
    this.detail = detail
  }

  get code(): StorageErrorDetail['code'] {
    return this.detail.code
  }
}

function messageOf(detail: StorageErrorDetail): string {
  switch (detail.code) {
    case 'Compacted':
      return `revision ${detail.requested} is no longer kept (oldest ${detail.compacted}, newest ${detail.current})`
    case 'FutureRevision':
      return `revision ${detail.requested} has not happened yet (newest ${detail.current})`
    case 'Unavailable':
      return `storage is unavailable: ${detail.problem}`
    case 'Closed':
      return 'storage is closed'
    case 'InvalidKey':
      return `invalid key ${JSON.stringify(detail.key.slice(0, 200))}: ${detail.problem}`
  }
}
