import { Follower } from '../follower/follower.ts'
import { opaqueForm, type StoredForm } from '../follower/stored-form.ts'
import type { Storage } from '../interfaces.ts'
import { resolveOptions, type StorageOptions } from '../options.ts'
import { StorageError } from '../storage-error.ts'
import type { RevisionForm } from './revision-form.ts'
import { SocketBackend } from './socket-backend.ts'

export interface SocketStorageOptions extends StorageOptions {
  /** Path that `serveStorage` listens on. */
  readonly path: string
  /** Must equal the form of the served store. */
  readonly form?: RevisionForm
  /** How long a write or a consistent read waits for the served store, in milliseconds. Default 10 seconds. */
  readonly timeoutMs?: number
  /** Called for lost connections. */
  readonly onError?: (error: unknown) => void
}

const defaultTimeoutMs = 10_000

/**
 * Opens a store that `serveStorage` serves in another process of the same machine. The store mirrors the served store in memory, so reads
 * are local; a write resolves when its event has arrived. `refresh` takes one round trip, which concurrent calls share.
 *
 * `encode` runs twice: with 0 for the bytes to send, and again with the revision of the write. Writes to different keys are ordered by
 * their arrival.
 *
 * @throws StorageError `Unavailable` with reason `remote` when the path cannot be connected to
 * @see {@link serveStorage} for an example
 */
export async function socketStorage(options: SocketStorageOptions): Promise<Storage> {
  const { path, form, timeoutMs = defaultTimeoutMs, onError = () => undefined } = options
  const backend = new SocketBackend(path)
  try {
    return await Follower.open({
      backend,
      form: form === undefined ? opaqueForm : revisionedForm(form),
      limits: resolveOptions(options),
      timeoutMs,
      onError,
    })
  } catch (cause) {
    backend.close()
    if (cause instanceof StorageError) throw cause
    const problem = `the storage at ${path} cannot be opened: ${cause instanceof Error ? cause.message : String(cause)}`
    throw new StorageError({ code: 'Unavailable', reason: 'remote', problem, cause })
  }
}

/** A form for values with a revision: the served store puts the revision into the bytes, so sent and received bytes differ in it. */
function revisionedForm(form: RevisionForm): StoredForm {
  return {
    ...opaqueForm,
    atRevision: (key, value, revision) => form.atRevision(key, value, revision),
    isStoredAs: (sent, { key, value, revision }) => Buffer.compare(form.atRevision(key, sent, revision), value) === 0,
  }
}
