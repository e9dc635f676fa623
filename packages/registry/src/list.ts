import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, Slices } from '@krmkit/meta'
import { type Entry, type Revision, StorageError } from '@krmkit/storage'
import { isLargeEntry, loadInBatches } from './batches.ts'
import { type ContinueToken, decodeContinueToken, encodeContinueToken, expiredToken } from './continue-token.ts'
import type { ListRequest, ListResult, RegistryEnvironment } from './interfaces.ts'
import { collectionPrefix, isStorableName } from './keys.ts'
import type { ObjectCache } from './object-cache.ts'
import { parseResourceVersion, waitForRevision } from './resource-version.ts'
import type { Writer } from './writer.ts'

/** Which snapshot a list reads. */
interface Plan {
  /** Snapshot to read; undefined = the newest. */
  readonly at: Revision | undefined
  /** Key to go on after, relative to the collection. */
  readonly after: string | undefined
  readonly token: ContinueToken | undefined
}

/**
 * Decides what to read, cell by cell of the table in the API protocol specification, 4.2.
 *
 * @throws ApiError 400 for combinations that mean nothing.
 */
async function plan(environment: RegistryEnvironment, request: ListRequest, signal: AbortSignal): Promise<Plan> {
  const { storage, clock } = environment
  const match = request.resourceVersionMatch ?? ''
  const limited = (request.limit ?? 0) > 0
  if ((request.continueToken ?? '') !== '') {
    if (match !== '') throw ApiError.badRequest('resourceVersionMatch is forbidden when continue is provided')
    if ((request.resourceVersion ?? '') !== '' && request.resourceVersion !== '0') {
      throw ApiError.badRequest('specifying resource version is not allowed when using continue')
    }
    const token = decodeContinueToken(request.continueToken ?? '')
    return { at: token.revision === -1 ? undefined : token.revision, after: token.after, token }
  }
  const version = parseResourceVersion(request.resourceVersion)
  if (match !== '') {
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      throw ApiError.badRequest(
        `resourceVersionMatch: Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan"`,
      )
    }
    if (version === undefined) throw ApiError.badRequest('resourceVersionMatch is forbidden unless resourceVersion is provided')
    if (match === 'Exact' && version === 0)
      throw ApiError.badRequest('resourceVersionMatch "Exact" is forbidden for resourceVersion "0"')
  }
  if (version === undefined || version === 0) return { at: undefined, after: undefined, token: undefined }
  await waitForRevision(storage, version, clock, signal)
  const exact = match === 'Exact' || (match === '' && limited)
  return { at: exact ? version : undefined, after: undefined, token: undefined }
}

/** Parts of the registry that lists need. */
export type ListSource = Pick<Writer, 'environment' | 'objectCache' | 'slices'>

/** Entries read from storage at a time when selectors filter them and a limit may end the search; later pages are longer. */
const firstPage = 512
const longestPage = 16 * 1024

/**
 * Lists a collection from one snapshot. Selectors are applied in slices.
 *
 * @throws ApiError 400, 410 (version or token too old) and 504 (version not reached yet).
 */
export async function listEntries(
  source: ListSource,
  definition: ResourceDefinition,
  request: ListRequest,
  signal: AbortSignal,
): Promise<ListResult> {
  const { environment } = source
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
        revision: page.revision,
        continueToken: more ? tokenAfter(page.entries.at(-1), prefix, page.revision) : '',
        ...(more ? { remaining: page.remaining } : {}),
      }
    }
    return await listSelected(source, definition, request, { prefix, after, at, limit })
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'Compacted') throw error
    throw token === undefined ? ApiError.expired('The resourceVersion for the provided list is too old.') : expiredToken(token)
  }
}

async function listSelected(
  { environment, objectCache: parsed, slices: scheduler }: ListSource,
  definition: ResourceDefinition,
  request: ListRequest,
  from: { prefix: string; after: string | undefined; at: Revision | undefined; limit: number | undefined },
): Promise<ListResult> {
  const { limit, prefix } = from
  const { storage } = environment
  const only = namedKey(definition, request, prefix)
  if (only !== undefined && from.after === undefined) {
    const entry = await storage.get(only, from.at === undefined ? {} : { at: from.at })
    if (entry !== undefined) await parsed.load(definition, [entry])
    const matches = entry !== undefined && selects(parsed, definition, request, entry)
    return { entries: matches ? [entry] : [], revision: from.at ?? storage.revision, continueToken: '' }
  }
  const slices = new Slices(scheduler)
  // Its reading has taken time already, and it is prepared for the first object.
  if (isLong(request)) await slices.next()
  const found: Entry[] = []
  let after = from.after === undefined ? undefined : prefix + from.after
  let at = from.at
  for (let size = firstPage; ; size = Math.min(size * 4, longestPage)) {
    const page = await storage.list({
      prefix,
      // Without a limit all is read now: the snapshot is not looked up again, and may be compacted meanwhile.
      ...(limit === undefined ? {} : { limit: size }),
      ...(after === undefined ? {} : { after }),
      ...(at === undefined ? {} : { at }),
    })
    at = page.revision
    const loading = loadInBatches((entries) => parsed.load(definition, entries), page.entries, slices)
    if (loading !== undefined) await loading
    for (let i = 0; i < page.entries.length; i++) {
      const entry = page.entries[i] as Entry
      if (slices.due(isLargeEntry(entry))) await slices.next()
      if (!selects(parsed, definition, request, entry)) continue
      found.push(entry)
      const last = page.remaining === 0 && i === page.entries.length - 1
      if (found.length === limit && !last) return { entries: found, revision: at, continueToken: tokenAfter(entry, prefix, at) }
    }
    if (page.remaining === 0) return { entries: found, revision: at, continueToken: '' }
    after = page.entries.at(-1)?.key
  }
}

/** Terms from which on a selector takes noticeable time. */
const longSelector = 1000

function isLong({ labelSelector, fieldSelector }: ListRequest): boolean {
  const labels = labelSelector?.requirements ?? []
  return labels.length > longSelector || (fieldSelector?.requirements ?? []).length > longSelector
}

/** Whether selectors choose an entry, which is loaded where others translate. */
export function selects(
  parsed: ObjectCache,
  definition: ResourceDefinition,
  { labelSelector, fieldSelector }: Pick<ListRequest, 'labelSelector' | 'fieldSelector'>,
  entry: Entry,
): boolean {
  return (
    (labelSelector === undefined || labelSelector.matches(parsed.labelsOf(entry, definition))) &&
    (fieldSelector === undefined || fieldSelector.matches(parsed.fieldsOf(entry, definition)))
  )
}

/** The one key that a selector by name leaves, where the namespace is known. */
function namedKey(definition: ResourceDefinition, request: ListRequest, prefix: string): string | undefined {
  if (definition.kind.namespaced && request.namespace === '') return undefined
  const name = request.fieldSelector?.exactMatch('metadata.name')
  return name !== undefined && isStorableName(name) ? prefix + name : undefined
}

function tokenAfter(entry: Entry | undefined, prefix: string, revision: Revision): string {
  return entry === undefined ? '' : encodeContinueToken({ revision, after: entry.key.slice(prefix.length) })
}
