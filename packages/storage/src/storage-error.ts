import type { Revision } from './interfaces.ts'

/** Reason why a store cannot be opened or does not accept writes. */
export type UnavailableReason =
  /** The journal could not make a write durable: the disk is full, for example. Writes may be accepted again later. */
  | 'journal'
  /** The directory is open in another process, or a second time in this one. */
  | 'locked'
  /** The directory contains files of another program. */
  | 'foreign'
  /** The data files of this package cannot be read. */
  | 'corrupt'
  /** A stored value cannot be decrypted with the present keys. */
  | 'encryption'
  /** The directory cannot be accessed. */
  | 'access'
  /** The remote store cannot be reached or refuses requests. Writes may be accepted again later. */
  | 'remote'
  /** It is unknown whether a write has happened: a remote store did not answer, or a journal failed and cannot be read. */
  | 'outcome'
  /** An optional package is not installed, or its native code cannot be loaded. */
  | 'module'

export type StorageErrorDetail =
  /** `requested` is older than the oldest readable revision. */
  | { readonly code: 'Compacted'; readonly requested: Revision; readonly compacted: Revision; readonly current: Revision }
  /** `requested` is newer than the newest revision; use `waitFor` first. */
  | { readonly code: 'FutureRevision'; readonly requested: Revision; readonly current: Revision }
  /** The store is not available. A write that fails with this error may or may not be found after reopening. */
  | { readonly code: 'Unavailable'; readonly reason: UnavailableReason; readonly problem: string }
  | { readonly code: 'Closed' }
  /** `key` is not a valid key or prefix, as `problem` explains. */
  | { readonly code: 'InvalidKey'; readonly key: string; readonly problem: string }
  /** An argument is missing or of another kind, or an option has an unknown member, as `problem` explains. */
  | { readonly code: 'InvalidArgument'; readonly problem: string }

/** The error of this package. The set of codes is closed; `detail` has the structured fields of the code, and `message` is for people. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
  readonly detail: StorageErrorDetail

  /** @param fields code and fields of the detail, which give the message, and the cause */
  constructor({ cause, ...detail }: StorageErrorDetail & { readonly cause?: unknown }) {
    super(messageOf(detail), cause === undefined ? undefined : { cause })
    this.detail = detail
  }

  get code(): StorageErrorDetail['code'] {
    return this.detail.code
  }
}

function messageOf(detail: StorageErrorDetail): string {
  switch (detail.code) {
    case 'Compacted':
      return `revision ${detail.requested} was compacted (oldest ${detail.compacted}, newest ${detail.current})`
    case 'FutureRevision':
      return `revision ${detail.requested} is in the future (newest ${detail.current})`
    case 'Unavailable':
      return `storage is unavailable: ${detail.problem}`
    case 'Closed':
      return 'storage is closed'
    case 'InvalidArgument':
      return detail.problem
    case 'InvalidKey':
      return `invalid key ${JSON.stringify(detail.key.slice(0, 200))}: ${detail.problem}`
  }
}

export function invalidArgument(problem: string): StorageError {
  return new StorageError({ code: 'InvalidArgument', problem })
}
