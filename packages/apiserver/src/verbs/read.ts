import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, type DeepReadonly, type GroupVersionKind, MetaError, Slices, truncateSelector } from '@krmkit/meta'
import {
  isStorableName,
  type ListRequest,
  listEntries,
  loadInBatches,
  objectKey,
  parseResourceVersion,
  waitForRevision,
} from '@krmkit/registry'
import type { Entry } from '@krmkit/storage'
import type { ApiResponse } from '../interfaces.ts'
import type { Representation } from '../negotiation.ts'
import { flag, integer, text } from '../query.ts'
import { requestSelectors } from '../request-selectors.ts'
import { header } from '../request-state.ts'
import { negotiated, type ResourceRequest } from '../resource-handler.ts'
import { bytesBody, jsonResponse, slicedResponse } from '../responses.ts'
import { includeObject, partialOf, printerOf, tableOf } from '../table.ts'
import { presentList } from './present-list.ts'

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

function presentEntry(
  request: ResourceRequest,
  entry: Entry,
  representation: Representation,
): ApiResponse | Promise<ApiResponse> {
  const { view } = request
  if (representation.encoding === 'json' && representation.transform === undefined && !wantsPretty(request, representation)) {
    return jsonResponse(200, bytesBody(view.bytes(entry)))
  }
  return presentObject(request, 200, view.object(entry), representation)
}

/** An object of the request's version as the client asked to see it; a promise where it is large and printed for people. */
export function presentObject(
  request: ResourceRequest,
  status: number,
  object: DeepReadonly<object>,
  representation: Representation,
): ApiResponse | Promise<ApiResponse> {
  const { machinery, state, definition } = request
  const { responder, writer } = machinery
  const { transform } = representation
  const shown = { ...representation, pretty: wantsPretty(request, representation) }
  const respond = (made: object, type: Parameters<typeof slicedResponse>[4]) =>
    slicedResponse({ responder, scheduler: writer.slices }, status, made, shown, type)
  if (transform === undefined) return respond(object, () => typeOf(request, object))
  const { clock, profile } = writer.environment
  const form = { version: transform.version, profile }
  const whole = object as Parameters<typeof partialOf>[0]
  if (transform.as !== 'Table')
    return respond(partialOf(whole, form), () => responder.types.struct('meta/v1.PartialObjectMetadata'))
  const printer = printerOf(definition, whole)
  if (printer === undefined) return respond(object, () => typeOf(request, object))
  const metadata = { resourceVersion: whole.metadata.resourceVersion ?? '' }
  const table = tableOf(printer, [whole], metadata, { ...form, include: includeObject(state.query), now: clock.now() })
  return respond(table, () => responder.types.struct('meta/v1.Table'))
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
export function selectors({ definition, state }: ResourceRequest): Pick<ListRequest, 'labelSelector' | 'fieldSelector'> {
  const { labels, fields } = requestSelectors(state)
  const labelSelector = readable(labels)
  const fieldSelector = readable(fields)
  for (const { field } of fieldSelector?.requirements ?? []) {
    const known =
      field === 'metadata.name' ||
      (field === 'metadata.namespace' && definition.kind.namespaced) ||
      Object.hasOwn(definition.policy.selectableFields ?? {}, field)
    if (!known) throw ApiError.badRequest(`field label not supported: ${truncateSelector(field)}`)
  }
  return {
    labelSelector: labelSelector?.empty === true ? undefined : labelSelector,
    fieldSelector: fieldSelector?.empty === true ? undefined : fieldSelector,
  }
}

/** What does not parse is the client's fault. */
function readable<S>(selector: S | MetaError | undefined): S | undefined {
  if (selector instanceof MetaError) throw ApiError.badRequest(selector.message)
  return selector
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
    machinery.writer,
    definition,
    {
      namespace: info.namespace,
      ...selectors(request),
      limit,
      continueToken: text(query, 'continue'),
      resourceVersion: text(query, 'resourceVersion'),
      resourceVersionMatch: text(query, 'resourceVersionMatch'),
    },
    state.signal,
  )
  const loading = loadInBatches((entries) => request.view.load(entries), answer.entries, new Slices(machinery.writer.slices))
  if (loading !== undefined) await loading
  return presentList(request, answer, { ...representation, pretty: wantsPretty(request, representation) })
}
