import type { Clock } from '@krmkit/meta'
import { ApiError } from '@krmkit/meta'
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
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    )
  }
  if (BigInt(text) > 18_446_744_073_709_551_615n) {
    throw ApiError.badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range`,
    )
  }
  return Number(text)
}

/** How long a read waits for a future version, in milliseconds. */
const freshnessTimeoutMs = 3_000

/**
 * Waits until `revision` is visible.
 *
 * @throws ApiError 504 with `ResourceVersionTooLarge` and Retry-After when it is not reached in time.
 */
export async function waitForRevision(storage: Storage, revision: Revision, clock: Clock, signal: AbortSignal): Promise<void> {
  if (revision <= storage.revision) return
  const giveUp = new AbortController()
  const cancel = clock.setTimeout(() => giveUp.abort(), freshnessTimeoutMs)
  try {
    if (await storage.waitFor(revision, AbortSignal.any([giveUp.signal, signal]))) return
  } finally {
    cancel()
  }
  throw ApiError.tooLargeResourceVersion(revision, storage.revision)
}
