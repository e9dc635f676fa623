import { Pace } from '@krmkit/base/work'
import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { type Entry, type ListSelection, type Revision, type Storage, StorageError } from '@krmkit/storage'
import type { ObjectCache } from '../cache/object-cache.ts'
import type { ListRequest, ListResult, RegistryEnvironment } from '../interfaces.ts'
import type { StoreInternals } from '../internals.ts'
import { collectionPrefix, isStorableName } from '../keys.ts'
import { isLargeEntry, loadInBatches } from './batches.ts'
import { type ContinueToken, decodeContinueToken, encodeContinueToken, expiredToken } from './continue-token.ts'
import { parseResourceVersion, waitForNewest, waitForVersion } from './resource-version.ts'
import { selectionsOf } from './selections.ts'

/** The snapshot and position of a list. */
interface Plan {
  /** Snapshot to read; `undefined`: the newest. */
  readonly at: Revision | undefined
  /** Key to continue after, relative to the collection. */
  readonly after: string | undefined
  readonly token: ContinueToken | undefined
}

/**
 * Checks resourceVersionMatch against the other parameters, as `listEntries` does.
 *
 * @throws ApiError 400
 * @example
 * import { validateVersionMatch } from '@krmkit/registry'
 * validateVersionMatch({ resourceVersion: '7', resourceVersionMatch: 'Exact' })
 */
export function validateVersionMatch({
  resourceVersion = '',
  resourceVersionMatch: match = '',
  continueToken = '',
}: Pick<ListRequest, 'resourceVersion' | 'resourceVersionMatch' | 'continueToken'>): void {
  if (match === '') return
  if (resourceVersion === '') throw ApiError.badRequest('resourceVersionMatch is forbidden unless resourceVersion is provided')
  if (continueToken !== '') throw ApiError.badRequest('resourceVersionMatch is forbidden when continue is provided')
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    throw ApiError.badRequest(
      `resourceVersionMatch: Unsupported value: ${goQuote(match)}: supported values: "Exact", "NotOlderThan"`,
    )
  }
  if (match === 'Exact' && resourceVersion === '0')
    throw ApiError.badRequest('resourceVersionMatch "Exact" is forbidden for resourceVersion "0"')
}

/**
 * Resolves resourceVersion, resourceVersionMatch, limit and continue to a snapshot.
 *
 * @throws ApiError 400 for invalid combinations.
 * @see API protocol specification, 4.2
 */
async function plan(environment: RegistryEnvironment, request: ListRequest, signal: AbortSignal): Promise<Plan> {
  const { storage, clock } = environment
  validateVersionMatch(request)
  const match = request.resourceVersionMatch ?? ''
  const limited = (request.limit ?? 0) > 0
  if ((request.continueToken ?? '') !== '') {
    const token = decodeContinueToken(request.continueToken ?? '')
    if ((request.resourceVersion ?? '') !== '' && request.resourceVersion !== '0') {
      throw ApiError.badRequest('specifying resource version is not allowed when using continue')
    }
    if (token.revision < 0) return { at: undefined, after: token.after, token }
    await waitForVersion(storage, String(token.revision), clock, signal)
    return { at: token.revision, after: token.after, token }
  }
  const version = parseResourceVersion(request.resourceVersion)
  if (version === undefined) await waitForNewest(storage)
  if (version === undefined || version === 0) return { at: undefined, after: undefined, token: undefined }
  await waitForVersion(storage, request.resourceVersion ?? '', clock, signal)
  const exact = match === 'Exact' || (match === '' && limited)
  return { at: exact ? version : undefined, after: undefined, token: undefined }
}

/**
 * Numbers of entries that a selective list with a limit reads at a time: they grow from the first to the second until the limit is reached.
 */
const firstPage = 512
const longestPage = 16 * 1024

/**
 * Lists a collection from one snapshot. Selectors are applied in slices.
 *
 * @throws ApiError 400, 410 (version or token too old) and 504 (version not reached yet).
 */
export async function listEntries(store: StoreInternals, request: ListRequest, signal: AbortSignal): Promise<ListResult> {
  const { definition, environment } = store
  const { at, after, token } = await plan(environment, request, signal)
  const prefix = collectionPrefix(definition, request.namespace)
  const limit = (request.limit ?? 0) > 0 ? request.limit : undefined
  try {
    if (request.labelSelector === undefined && request.fieldSelector === undefined) {
      const page = await environment.storage.list({
        prefix,
        ...(after === undefined ? {} : { after: prefix + after }),
        ...(limit === undefined ? {} : { limit }),
        ...(at === undefined ? {} : { at }),
      })
      const more = page.remaining > 0 && limit !== undefined
      return {
        entries: page.entries,
        resourceVersion: String(page.revision),
        continueToken: more ? tokenAfter(page.entries.at(-1), prefix, page.revision) : '',
        ...(more ? { remaining: page.remaining } : {}),
      }
    }
    return await listSelected(store, request, { prefix, after, at, limit })
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'Compacted') throw error
    throw token === undefined ? ApiError.expired('The resourceVersion for the provided list is too old.') : expiredToken(token)
  }
}

async function listSelected(
  store: StoreInternals,
  request: ListRequest,
  from: { prefix: string; after: string | undefined; at: Revision | undefined; limit: number | undefined },
): Promise<ListResult> {
  const { limit, prefix } = from
  const { definition, environment, objectCache, turns } = store
  const { storage } = environment
  const only = namedKey(definition, request, prefix)
  if (only !== undefined && from.after === undefined) {
    const entry = await storage.get(only, from.at === undefined ? {} : { at: from.at })
    if (entry !== undefined) await objectCache.loadSelected(definition, entry)
    const matches = entry !== undefined && selects(objectCache, definition, request, entry)
    return {
      entries: matches ? [entry] : [],
      resourceVersion: String(from.at ?? storage.revision),
      continueToken: '',
    }
  }
  const ending = nameEnding(request)
  const pace = new Pace(turns)
  // Parsing a long selector has used part of this slice, and compiling the selector takes more time.
  if (isLong(request)) await pace.next()
  const part = { prefix: selectedPrefix(definition, request, prefix), selection: selectionOf(store, request) }
  const found: Entry[] = []
  let after = from.after === undefined ? undefined : prefix + from.after
  let at = from.at
  for (let size = firstPage; ; size = Math.min(size * 4, longestPage)) {
    const page = await storage.list({
      ...part,
      // Without a limit, one read returns all entries, because the snapshot could be compacted before a second read.
      ...(limit === undefined ? {} : { limit: size }),
      ...(after === undefined ? {} : { after }),
      ...(at === undefined ? {} : { at }),
    })
    at = page.revision
    if (definition.conversion !== undefined) {
      await loadInBatches((entries) => objectCache.load(definition, entries), page.entries, pace)
    }
    for (let i = 0; i < page.entries.length; i++) {
      const entry = page.entries[i] as Entry
      // Entries with other names need not be parsed.
      const mayMatch = entry.key.endsWith(ending)
      if (pace.due(mayMatch && isLargeEntry(entry))) await pace.next()
      if (!mayMatch) continue
      if (isLargeEntry(entry)) await objectCache.loadSelected(definition, entry)
      if (!selects(objectCache, definition, request, entry)) continue
      found.push(entry)
      if (found.length !== limit) continue
      const more = page.remaining > 0 || i < page.entries.length - 1 || (await isFollowed(storage, { prefix, entry, at }))
      return { entries: found, resourceVersion: String(at), continueToken: more ? tokenAfter(entry, prefix, at) : '' }
    }
    if (page.remaining === 0) return { entries: found, resourceVersion: String(at), continueToken: '' }
    after = page.entries.at(-1)?.key
  }
}

/** Compiling a selector with more terms takes a noticeable part of a slice. */
const longSelector = 1000

function isLong({ labelSelector, fieldSelector }: ListRequest): boolean {
  const labels = labelSelector?.requirements ?? []
  return labels.length > longSelector || (fieldSelector?.requirements ?? []).length > longSelector
}

/** Whether the selectors match an entry. Entries that a webhook converts must be loaded. */
export function selects(
  objectCache: ObjectCache,
  definition: ResourceDefinition,
  { labelSelector, fieldSelector }: Pick<ListRequest, 'labelSelector' | 'fieldSelector'>,
  entry: Entry,
): boolean {
  return (
    (labelSelector === undefined || labelSelector.matches(objectCache.labelsOf(entry, definition))) &&
    (fieldSelector === undefined || fieldSelector.matches(objectCache.fieldsOf(entry, definition)))
  )
}

/** Whether any entry follows a page, selected or not: then the page has a continue token. */
async function isFollowed(
  storage: Storage,
  { prefix, entry, at }: { readonly prefix: string; readonly entry: Entry; readonly at: Revision },
): Promise<boolean> {
  const { entries } = await storage.list({ prefix, after: entry.key, limit: 1, at })
  return entries.length > 0
}

function selectionOf(store: StoreInternals, request: ListRequest): ListSelection | undefined {
  const selections = selectionsOf(store, request)
  return selections.length === 0 ? undefined : { collection: collectionPrefix(store.definition), selections }
}

/** The narrowest prefix that holds everything that a field selector can match: one namespace where the selector requires it. */
function selectedPrefix(
  { kind, storage }: ResourceDefinition,
  { namespace, fieldSelector }: ListRequest,
  prefix: string,
): string {
  if (!kind.namespaced || namespace !== '') return prefix
  const only = fieldSelector?.exactMatch('metadata.namespace')
  return only !== undefined && isStorableName(only) ? collectionPrefix({ storage }, only) : prefix
}

/** The only key that can match a field selector on metadata.name; `undefined` without one or across namespaces. */
function namedKey(definition: ResourceDefinition, request: ListRequest, prefix: string): string | undefined {
  if (definition.kind.namespaced && request.namespace === '') return undefined
  const name = request.fieldSelector?.exactMatch('metadata.name')
  return name !== undefined && isStorableName(name) ? prefix + name : undefined
}

/** The ending of all keys that can match a field selector on metadata.name, in any namespace. */
function nameEnding({ fieldSelector }: ListRequest): string {
  const name = fieldSelector?.exactMatch('metadata.name')
  return name !== undefined && isStorableName(name) ? `/${name}` : ''
}

function tokenAfter(entry: Entry | undefined, prefix: string, revision: Revision): string {
  return entry === undefined ? '' : encodeContinueToken({ revision, after: entry.key.slice(prefix.length) })
}
