import type { ApiObject } from '@krmkit/meta'
import type { RequestSpan } from '@krmkit/meta/tracing'
import { deepFreeze, freezeSteps } from '@krmkit/meta/work'
import type { Entry } from '@krmkit/storage'
import type { Stored } from '../interfaces.ts'
import type { StoreInternals } from '../internals.ts'
import { revisionForm } from '../stored-form/revision-form.ts'
import { canonicalForm } from '../versions/canonical-form.ts'
import { encodeWithin, maxObjectBytesByDefault, printSteps } from './object-size.ts'
import { type Stages, stagesAfter } from './stages.ts'

export interface EntryWrite {
  readonly key: string
  readonly object: ApiObject
  /** The object in the storage version, where a webhook has converted it already. */
  readonly stored?: ApiObject | undefined
  /** The entry that must still be the newest at `key`; `undefined`: nothing is stored there. */
  readonly replaced: Entry | undefined
  /** The strategy of the whole object has prepared and validated it. */
  readonly settled: boolean
  /** managedFields must be kept even where they exceed the size limit: the request applies. */
  readonly managesFields: boolean
  readonly stages: Stages
}

/** Encodes the object once and stores it. @returns `undefined` when another writer was first. */
export async function writeEntry(
  store: StoreInternals,
  { key, object, stored, replaced, settled, managesFields, stages: given }: EntryWrite,
  span?: RequestSpan,
): Promise<(Stored & { entry: Entry }) | undefined> {
  const { definition, environment, objectCache } = store
  object.metadata.resourceVersion = '0'
  const forming = canonicalForm(store, object, given)
  const shown = forming instanceof Promise ? await forming : forming
  const { conversion } = definition
  const canonical = stored ?? (conversion === undefined ? shown : await conversion.write(shown, { stored: true }))
  const stages = canonical === shown ? given : stagesAfter(store, given, canonical)
  if (stages !== undefined) await stages.next()
  const memo = objectCache.newEntry(canonical)
  if (settled) memo.settledBy = definition
  const printed = stages === undefined ? undefined : await stages.run(printSteps(canonical))
  span?.event('About to Encode')
  const maxBytes = environment.maxObjectBytes ?? maxObjectBytesByDefault
  /** Encoded while the revision was unknown. */
  let provisional: Uint8Array | undefined
  const result = await environment.storage.put(
    key,
    (revision) => {
      canonical.metadata.resourceVersion = String(revision)
      const bytes =
        provisional === undefined
          ? encodeWithin(canonical, { maxBytes, ownersMayGo: !managesFields, printed })
          : revisionForm.atRevision(key, provisional, revision)
      // The revision may be unknown yet: a second call follows then.
      if (revision === 0) {
        provisional = bytes
        memo.object = canonical
        return bytes
      }
      // Watchers read it before the write returns, so a small object is frozen first. Freezing a large one takes several slices.
      memo.object = stages === undefined ? deepFreeze(canonical) : canonical
      return bytes
    },
    { expect: replaced?.revision ?? 0, memo },
  )
  span?.event('Txn call completed')
  if (result.outcome === 'conflict') return undefined
  span?.event('Transaction committed', () => ({ len: result.entry.value.byteLength }))
  objectCache.keep(memo, result.entry.value.byteLength, replaced)
  if (stages !== undefined) await stages.run(freezeSteps(canonical))
  if (conversion !== undefined) return { object: await objectCache.read(definition, result.entry), entry: result.entry }
  return { object: canonical, entry: result.entry }
}
