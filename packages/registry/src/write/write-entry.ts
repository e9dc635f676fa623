import { equalBytes } from '@krmkit/base/bytes'
import { deepFreeze } from '@krmkit/base/freeze'
import * as pacedBase from '@krmkit/base/paced'
import { inSpan, type RequestSpan } from '@krmkit/base/tracing'
import type { Pace, Work } from '@krmkit/base/work'
import type { ResourceDefinition } from '@krmkit/kinds'
import { type ApiObject, type FieldError, field } from '@krmkit/meta'
import { goStrings, goText } from '@krmkit/meta/go-text'
import { stringifyJson } from '@krmkit/schema'
import * as paced from '@krmkit/schema/paced'
import type { Entry } from '@krmkit/storage'
import { type CachedObject, encodeStored } from '../cache/object-cache.ts'
import type { Stored, WriteContext } from '../interfaces.ts'
import type { StoreInternals } from '../internals.ts'
import { objectKey } from '../keys.ts'
import { revisionForm } from '../stored-form/revision-form.ts'
import { canonicalForm } from '../versions/canonical-form.ts'
import { objectTooLarge } from '../versions/refusals.ts'
import { copyMetadata } from './metadata.ts'

/** The last stage of a write: encodes the object with the revision of the write, and stores or removes its entry. */

/** Default limit of a stored object in bytes: the request limit of etcd. */
export const maxObjectBytesByDefault = 1.5 * 1024 * 1024

export interface EntryWrite {
  readonly key: string
  readonly object: ApiObject
  /** The object in the storage version, where a webhook has already converted it. */
  readonly stored?: ApiObject | undefined
  /** The entry that must still be the newest at `key`; `undefined`: nothing is stored there. */
  readonly replaced: Entry | undefined
  /** Whether the strategy of the main resource, not of a subresource, has prepared and validated the object. */
  readonly isValidated: boolean
  /** Whether managedFields must be kept even when they exceed the size limit, as for an apply. */
  readonly managesFields: boolean
  readonly pace: Pace
}

/** Encodes the object once and stores it. @returns `undefined` when another writer was first. */
export async function writeEntry(
  store: StoreInternals,
  { key, object, stored, replaced, isValidated, managesFields, pace }: EntryWrite,
  span?: RequestSpan,
): Promise<(Stored & { entry: Entry }) | undefined> {
  const { definition, environment, objectCache } = store
  object.metadata.resourceVersion = '0'
  const formed = await canonicalForm(store, object, pace)
  const { conversion } = definition
  const canonical = stored ?? (conversion === undefined ? formed : await conversion.write(formed, { stored: true }))
  const paceOfWrite = canonical === formed ? pace : pace.for(canonical)
  if (paceOfWrite.isSliced) await paceOfWrite.next()
  const maxBytes = environment.maxObjectBytes ?? maxObjectBytesByDefault
  const encode = (printed: PrintedParts | undefined) =>
    encodeWithin(canonical, { maxBytes, mayDropOwners: !managesFields, printed })
  const write = { key, object: canonical, replaced, validatedBy: isValidated ? definition : undefined, pace: paceOfWrite, encode }
  const entry = await putEntry(store, write, span)
  if (entry === undefined) return undefined
  return { object: conversion === undefined ? canonical : await objectCache.read(definition, entry), entry }
}

interface EncodedWrite {
  readonly key: string
  /** In the storage version. */
  readonly object: ApiObject
  readonly replaced: Entry | undefined
  /** @see CachedObject.validatedBy */
  readonly validatedBy: ResourceDefinition | undefined
  readonly pace: Pace
  encode(printed: PrintedParts | undefined): Uint8Array
}

async function putEntry(store: StoreInternals, write: EncodedWrite, span?: RequestSpan): Promise<Entry | undefined> {
  const { environment, objectCache } = store
  const { key, object, replaced, pace } = write
  const memo = objectCache.newEntry(object)
  memo.validatedBy = write.validatedBy
  const printed = pace.isSliced ? await pace.run(printParts(object)) : undefined
  span?.event('About to Encode')
  const encode = encoderOf(write, memo, printed)
  const result = await environment.storage.put(key, encode, { expect: replaced?.revision ?? 0, memo })
  span?.event('Txn call completed')
  if (result.outcome === 'conflict') return undefined
  const { entry } = result
  span?.event('Transaction committed', () => ({ len: entry.value.byteLength }))
  objectCache.keep(memo, entry.value.byteLength, replaced)
  if (pace.isSliced) await pace.run(pacedBase.deepFreeze(object))
  return entry
}

/** Encodes an object at the revision of its write, and caches the object for watchers, which read it before the write returns. */
function encoderOf(
  { key, object, pace, encode }: Pick<EncodedWrite, 'key' | 'object' | 'pace' | 'encode'>,
  memo: CachedObject,
  printed: PrintedParts | undefined,
): (revision: number) => Uint8Array {
  /** The encoding from a call with an unknown revision. */
  let provisional: Uint8Array | undefined
  return (revision) => {
    object.metadata.resourceVersion = String(revision)
    const bytes = provisional === undefined ? encode(printed) : revisionForm.atRevision(key, provisional, revision)
    // Revision 0 means that the revision is not known yet: a second call follows.
    if (revision === 0) {
      provisional = bytes
      memo.object = object
      return bytes
    }
    // A small object is frozen before watchers read it. Freezing a large one takes several slices.
    memo.object = pace.isSliced ? object : deepFreeze(object)
    return bytes
  }
}

/**
 * Stores an object that a deletion has marked, whatever its size.
 *
 * @param isRepeated whether an earlier deletion has marked the object: then it is stored only if its stored form differs.
 * @returns `undefined` when another writer was first.
 */
export async function writeMark(
  store: StoreInternals,
  {
    object,
    replaced,
    isRepeated,
    pace,
  }: { readonly object: ApiObject; readonly replaced: Entry; readonly isRepeated: boolean; readonly pace: Pace },
): Promise<(Stored & { entry: Entry }) | undefined> {
  const { definition, objectCache } = store
  const canonical = definition.conversion === undefined ? object : await definition.conversion.write(object, { stored: true })
  const write = { object: canonical, pace: canonical === object ? pace : pace.for(canonical) }
  const entry =
    isRepeated && (await isStoredAs(store, replaced, write))
      ? replaced
      : await putEntry(store, {
          ...write,
          key: replaced.key,
          replaced,
          validatedBy: undefined,
          encode: (printed) => encodePrinted(canonical, printed),
        })
  return entry === undefined ? undefined : { object: await objectCache.read(definition, entry), entry }
}

/** Whether the object, given in the storage version, encodes to the bytes that storage holds. */
export async function isStoredAs(
  { environment }: StoreInternals,
  entry: Entry,
  { object, pace }: { readonly object: ApiObject; readonly pace: Pace },
): Promise<boolean> {
  if (environment.storage.isStale?.(entry) === true) return false
  const printed = pace.isSliced ? await pace.run(printParts(object)) : undefined
  return equalBytes(encodePrinted(object, printed), entry.value)
}

/** Deletes the entry of an object. @returns its last state, at the version of the deletion; `undefined` when another writer was first */
export async function removeEntry(
  { environment, objectCache }: StoreInternals,
  replaced: Entry,
  pace: Pace,
): Promise<{ readonly object: ApiObject; readonly entry: Entry } | undefined> {
  const object = copyMetadata((await objectCache.parsed(replaced)) as ApiObject)
  const memo = objectCache.newEntry(object)
  const { key } = replaced
  const printed = pace.isSliced ? await pace.run(printParts(object)) : undefined
  const encode = encoderOf({ key, object, pace, encode: (parts) => encodePrinted(object, parts) }, memo, printed)
  const result = await environment.storage.delete(key, encode, { expect: replaced.revision, memo })
  if (result.outcome !== 'written') return undefined
  const { entry } = result
  objectCache.keep(memo, entry.value.byteLength, replaced)
  if (pace.isSliced) await pace.run(pacedBase.deepFreeze(object))
  return { object, entry }
}

/**
 * Encodes an object for storage. When the object is too large only because of managedFields, drops them, unless the request is an apply.
 * Mutates the metadata of `object`.
 *
 * @throws ApiError 413
 */
export function encodeWithin(
  object: ApiObject,
  {
    maxBytes,
    mayDropOwners,
    printed,
  }: { readonly maxBytes: number; readonly mayDropOwners: boolean; readonly printed?: PrintedParts | undefined },
): Uint8Array {
  const bytes = encodePrinted(object, printed)
  if (bytes.byteLength <= maxBytes) return bytes
  if (mayDropOwners && object.metadata.managedFields !== undefined) {
    delete object.metadata.managedFields
    const fewer = encodePrinted(object, printed)
    if (fewer.byteLength <= maxBytes) return fewer
  }
  throw objectTooLarge(maxBytes)
}

/** JSON of the members that do not change when the object gets its revision, by member value. */
export type PrintedParts = ReadonlyMap<unknown, string>

/** Encodes the members of a large object one by one ahead of the write, which then only joins them. */
export function* printParts({ metadata, ...members }: ApiObject): Work<PrintedParts> {
  const printed = new Map<unknown, string>()
  for (const part of [...Object.values(members), ...Object.values(metadata)]) {
    if (typeof part === 'object' && part !== null) printed.set(part, yield* paced.stringifyJson(part))
  }
  return printed
}

/** The stored form of an object whose members may be encoded already. */
export function encodePrinted(object: ApiObject, printed: PrintedParts | undefined): Uint8Array {
  if (printed === undefined) return encodeStored(object)
  return new TextEncoder().encode(`${joined(object, object.metadata, printed)}\n`)
}

/** @param open the member that is encoded member by member */
function joined(object: object, open: object | undefined, printed: PrintedParts): string {
  const members = Object.entries(object).filter(([, value]) => value !== undefined)
  const texts = members.map(([key, value]) => {
    const text = value === open ? joined(value, undefined, printed) : (printed.get(value) ?? stringifyJson(value))
    return `${stringifyJson(key)}:${text}`
  })
  return `{${texts.join(',')}}`
}

/**
 * Validates the `dryRun` values of a write. The error shows the whole list in Go notation.
 *
 * @example
 * import { validateDryRun } from '@krmkit/registry'
 * validateDryRun(['All']) // []
 * validateDryRun(['Some'])[0]?.message // 'Unsupported value: []string{"Some"}: supported values: "All"'
 */
export function validateDryRun(dryRun: readonly string[]): FieldError[] {
  if (dryRun.every((word) => word === 'All')) return []
  return [field.notSupported('dryRun', goText(goStrings(dryRun)), ['All'])]
}

/** Names of the spans of writes: those of kube-apiserver, whatever the storage is. */
type WriteSpanName = 'Create etcd3' | 'GuaranteedUpdate etcd3'

interface WrittenObject {
  readonly namespace: string
  readonly name: string
}

/** Runs a write inside a tracing span. */
export function inWriteSpan<T>(
  { definition }: StoreInternals,
  span: WriteContext['span'],
  { name, at }: { readonly name: WriteSpanName; readonly at: WrittenObject },
  write: (span: RequestSpan | undefined) => Promise<T>,
): Promise<T> {
  if (span?.isRecording !== true) return write(undefined)
  const { group, resource } = definition.storage
  const fields = () => ({
    'audit-id': span.auditId,
    key: objectKey(definition, at.namespace, at.name),
    type: definition.kind.kind,
    resource: group === '' ? resource : `${resource}.${group}`,
  })
  return inSpan(span, name, fields, write)
}
