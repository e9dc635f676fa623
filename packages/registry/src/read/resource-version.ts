import { ApiError, type Clock } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import type { Revision, Storage } from '@krmkit/storage'

/**
 * Resource versions are decimal storage revisions, opaque to clients.
 *
 * @see API protocol specification, 4.2
 */

/** `undefined`: unset; 0: any version. @throws ApiError 400 for a malformed version. */
export function parseResourceVersion(text: string | undefined): Revision | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^[0-9]{1,20}$/.test(text)) {
    throw ApiError.badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${goQuote(text)}: strconv.ParseUint: parsing ${goQuote(text)}: invalid syntax`,
    )
  }
  if (BigInt(text) > 18_446_744_073_709_551_615n) {
    throw ApiError.badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${goQuote(text)}: strconv.ParseUint: parsing ${goQuote(text)}: value out of range`,
    )
  }
  return Number(text)
}

/**
 * Waits until reads reflect every acknowledged write of other processes; at once where the storage has no other users.
 *
 * @throws StorageError `Unavailable`
 */
export function waitForNewest(storage: Storage): Promise<void> | undefined {
  return storage.refresh?.()
}

/** How long a read waits for a future version, in milliseconds. */
const freshnessTimeoutMs = 3_000

/**
 * Waits until a version is visible.
 *
 * @param version well-formed
 * @throws ApiError 504 with `ResourceVersionTooLarge` and Retry-After when it is not reached in time.
 */
export async function waitForVersion(storage: Storage, version: string, clock: Clock, signal: AbortSignal): Promise<void> {
  const revision = Number(version)
  if (revision <= storage.revision) return
  const giveUp = new AbortController()
  const cancel = clock.setTimeout(() => giveUp.abort(), freshnessTimeoutMs)
  try {
    if (await storage.waitFor(revision, AbortSignal.any([giveUp.signal, signal]))) return
  } finally {
    cancel()
  }
  // The message contains the version exactly: it may have 64 bits, which a revision cannot represent.
  throw ApiError.tooLargeResourceVersion(BigInt(version), storage.revision)
}
