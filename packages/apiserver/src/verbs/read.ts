import { defaultPrinter, type Printer, printers, type ResourceDefinition } from '@krmkit/kinds'
import {
  ApiError,
  type DeepReadonly,
  type GroupVersionKind,
  MetaError,
  parseFieldSelector,
  parseLabelSelector,
} from '@krmkit/meta'
import {
  isStorableName,
  type ListAnswer,
  type ListRequest,
  listEntries,
  objectKey,
  parseResourceVersion,
  waitForRevision,
} from '@krmkit/registry'
import type { Entry } from '@krmkit/storage'
import type { ApiResponse } from '../interfaces.ts'
import type { Representation } from '../negotiation.ts'
import { flag, integer, type Query, text } from '../query.ts'
import { header } from '../request-state.ts'
import { negotiated, type ResourceRequest } from '../resource-handler.ts'
import { bytesBody, jsonResponse, objectResponse } from '../responses.ts'
import { includeObject, partialListOf, partialOf, tableOf } from '../table.ts'

/** GET of one object; @see API protocol specification, 4.2. */
export async function getObject(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state, definition } = request
  const { storage, clock } = machinery.writer.environment
  const { namespace, name } = state.info
  const representation = negotiated(request, {
    transforms: ['Table', 'PartialObjectMetadata'],
  })
  refuseExport(state)
  const version = parseResourceVersion(text(state.query, 'resourceVersion'))
  if (version !== undefined && version > storage.revision) await waitForRevision(storage, version, clock, state.signal)
  const entry = isStorableName(name) ? storage.peek(objectKey(definition, namespace, name)) : undefined
  if (entry === undefined) throw ApiError.notFound({ group: definition.group, resource: definition.resource.name }, name)
  const loading = request.view.load([entry])
  if (loading !== undefined) await loading
  return presentEntry(request, entry, representation)
}

/** Objects were once given without what their cluster had added. @throws ApiError 400 */
function refuseExport({ query }: ResourceRequest['state']): void {
  if (query.has('export') && flag(query, 'export')) {
    throw ApiError.badRequest('the export parameter, deprecated since v1.14, is no longer supported')
  }
}

function presentEntry(request: ResourceRequest, entry: Entry, representation: Representation): ApiResponse {
  const { view } = request
  if (representation.encoding === 'json' && representation.transform === undefined && !wantsPretty(request, representation)) {
    return jsonResponse(200, bytesBody(view.bytes(entry)))
  }
  return presentObject(request, 200, view.object(entry), representation)
}

/** An object of the request's version as the client asked to see it. */
export function presentObject(
  request: ResourceRequest,
  status: number,
  object: DeepReadonly<object>,
  representation: Representation,
): ApiResponse {
  const { machinery, state, definition } = request
  const { responder } = machinery
  const { transform } = representation
  const shown = { ...representation, pretty: wantsPretty(request, representation) }
  if (transform === undefined) return objectResponse(responder, status, object, shown, () => typeOf(request, object))
  const { clock, profile } = machinery.writer.environment
  const whole = object as Parameters<typeof partialOf>[0]
  if (transform.as === 'Table') {
    const printer = printerOf(definition, whole)
    if (printer === undefined) return objectResponse(responder, status, object, shown, () => typeOf(request, object))
    const table = tableOf(
      printer,
      [whole],
      { resourceVersion: whole.metadata.resourceVersion ?? '' },
      {
        version: transform.version,
        profile,
        include: includeObject(state.query),
        now: clock.now(),
      },
    )
    return objectResponse(responder, status, table, shown, () => responder.types.struct('meta/v1.Table'))
  }
  return objectResponse(responder, status, partialOf(whole, { version: transform.version, profile }), shown, () =>
    responder.types.struct('meta/v1.PartialObjectMetadata'),
  )
}

/** Columns of the resource, or of the kind that a sub-resource answers with; undefined where that has none. */
export function printerOf(
  definition: ResourceDefinition,
  object?: { readonly kind?: string; readonly apiVersion?: string },
): Printer | undefined {
  if (object === undefined || object.kind === definition.kind.kind) return definition.policy.printer ?? defaultPrinter
  const [group = ''] = (object.apiVersion ?? '').split('/')
  return printers[`${group}/${object.kind}`]
}

function typeOf(
  { machinery, definition }: ResourceRequest,
  object: DeepReadonly<object>,
): ReturnType<ResourceDefinition['kind']['type']> {
  const { kind, apiVersion = '' } = object as { kind?: string; apiVersion?: string }
  if (kind === undefined || kind === definition.kind.kind) return definition.kind.type()
  const slash = apiVersion.indexOf('/')
  const gvk: GroupVersionKind = { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind }
  return machinery.kind(gvk)?.type() ?? machinery.responder.types.struct('meta/v1.Status')
}

/** By parameter, by Accept, or because a person looks through a browser or curl. */
export function wantsPretty({ state }: ResourceRequest, representation: Representation): boolean {
  const asked = text(state.query, 'pretty')
  if (asked !== undefined) return asked === '1' || asked === 'true'
  if (representation.pretty) return true
  const agent = header(state.request, 'user-agent') ?? ''
  return agent.startsWith('curl') || agent.startsWith('Wget') || agent.startsWith('Mozilla/5.0')
}

/**
 * Selectors of a list, watch or deletecollection. @throws ApiError 400 for what does not parse or is not selectable.
 */
export function selectors(definition: ResourceDefinition, query: Query): Pick<ListRequest, 'labelSelector' | 'fieldSelector'> {
  const labels = text(query, 'labelSelector') ?? ''
  const fields = text(query, 'fieldSelector') ?? ''
  const labelSelector = labels === '' ? undefined : readable(() => parseLabelSelector(labels))
  const fieldSelector = fields === '' ? undefined : readable(() => parseFieldSelector(fields))
  for (const { field } of fieldSelector?.requirements ?? []) {
    const known =
      field === 'metadata.name' ||
      (field === 'metadata.namespace' && definition.kind.namespaced) ||
      Object.hasOwn(definition.policy.selectableFields ?? {}, field)
    if (!known) throw ApiError.badRequest(`field label not supported: ${field}`)
  }
  const some = (fieldSelector?.requirements ?? []).length > 0
  return {
    labelSelector: (labelSelector?.requirements ?? []).length > 0 ? labelSelector : undefined,
    fieldSelector: some ? fieldSelector : undefined,
  }
}

/** What does not parse is the client's fault. */
function readable<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof MetaError) throw ApiError.badRequest(error.message)
    throw error
  }
}

/** GET of a collection; @see API protocol specification, 2.3, 4.2 and 4.3. */
export async function listObjects(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state, definition } = request
  const { query, info } = state
  const representation = negotiated(request, {
    transforms: ['Table', 'PartialObjectMetadataList'],
  })
  const limit = integer(query, 'limit')
  integer(query, 'timeoutSeconds')
  const answer = await listEntries(
    machinery.writer.environment,
    definition,
    machinery.parsed,
    {
      namespace: info.namespace,
      ...selectors(definition, query),
      limit,
      continueToken: text(query, 'continue'),
      resourceVersion: text(query, 'resourceVersion'),
      resourceVersionMatch: text(query, 'resourceVersionMatch'),
    },
    state.signal,
  )
  const loading = request.view.load(answer.entries)
  if (loading !== undefined) await loading
  return presentList(request, answer, representation)
}

/** A list in the negotiated form: for JSON the stored bytes are joined, never parsed or encoded again. */
function presentList(request: ResourceRequest, answer: ListAnswer, representation: Representation): ApiResponse {
  const { machinery, state, definition, view } = request
  const { responder } = machinery
  const { transform, encoding } = representation
  const pretty = wantsPretty(request, representation)
  const metadata = {
    resourceVersion: String(answer.revision),
    continue: answer.continueToken,
    ...(answer.remaining === undefined ? {} : { remainingItemCount: answer.remaining }),
  }
  if (encoding === 'json' && transform === undefined && !pretty) return joinedList(request, answer.entries, metadata)
  const { clock, profile } = machinery.writer.environment
  const objects = answer.entries.map((entry) => view.object(entry))
  const shown = { ...representation, pretty }
  if (transform?.as === 'Table') {
    const table = tableOf(printerOf(definition) ?? defaultPrinter, objects, metadata, {
      version: transform.version,
      profile,
      include: includeObject(state.query),
      now: clock.now(),
    })
    return objectResponse(responder, 200, table, shown, () => responder.types.struct('meta/v1.Table'))
  }
  if (transform !== undefined) {
    const list = partialListOf(objects, metadata, { version: transform.version, profile })
    return objectResponse(responder, 200, list, shown, () => responder.types.struct('meta/v1.PartialObjectMetadataList'))
  }
  const { group, version, listKind } = definition.kind
  if (definition.custom !== undefined) {
    return objectResponse(
      responder,
      200,
      { apiVersion: apiVersionOf(group, version), items: objects, kind: listKind, metadata },
      shown,
      definition.kind.type,
    )
  }
  const items = objects.map(({ kind: _kind, apiVersion: _apiVersion, ...members }) => members)
  const list = { kind: listKind, apiVersion: apiVersionOf(group, version), metadata, items }
  const folder = definition.kind.type().name.split('.')[0] ?? ''
  return objectResponse(responder, 200, list, shown, () => responder.types.struct(`${folder}.${listKind}`))
}

const listEnd = new TextEncoder().encode(']}\n')

function joinedList(request: ResourceRequest, entries: readonly Entry[], metadata: object): ApiResponse {
  const { definition, machinery, view } = request
  return jsonResponse(200, machinery.runs.body(view, entries, listEnvelope(definition, metadata)))
}

/** What stands before the items of a list and after them. Lists of custom resources, too, have their members by name. */
function listEnvelope({ kind, custom }: ResourceDefinition, metadata: object): { head: Uint8Array; end: Uint8Array } {
  const { group, version, listKind } = kind
  const apiVersion = apiVersionOf(group, version)
  const encode = (text: string) => new TextEncoder().encode(text)
  if (custom === undefined) {
    return { head: encode(`${JSON.stringify({ kind: listKind, apiVersion, metadata }).slice(0, -1)},"items":[`), end: listEnd }
  }
  const end = encode(`],"kind":"${listKind}","metadata":${JSON.stringify(metadata)}}\n`)
  return { head: encode(`{"apiVersion":"${apiVersion}","items":[`), end }
}

export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}
