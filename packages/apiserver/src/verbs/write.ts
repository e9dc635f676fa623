import { ApiError, type ApiObject, Slices } from '@krmkit/meta'
import {
  createObject,
  type DeleteOptions,
  type DeleteResult,
  deleteObject,
  dropRepeatedOwners,
  type FrozenObject,
  listEntries,
  type Stored,
  updateObject,
  validateDeleteOptions,
} from '@krmkit/registry'
import { attributesOf, refuseUnlessAllowed } from '../filters/authorization.ts'
import type { ApiResponse } from '../interfaces.ts'
import { flag, integer, text } from '../query.ts'
import {
  bodyEncoding,
  decodeObject,
  type Expected,
  readBytes,
  readSized,
  type SizedObject,
  withDefaults,
} from '../request-body.ts'
import { header } from '../request-context.ts'
import { negotiated, type ResourceRequest, requestedOptions, writeContext } from '../resource-handler.ts'
import { bytesBody, jsonResponse, statusResponse } from '../responses.ts'
import { whenDone } from '../when-done.ts'
import { presentObject, selectors, wantsPretty } from './read.ts'

/** POST to a collection; @see API protocol specification, 4. */
export async function createResource(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state, definition, view } = request
  const representation = negotiated(request, { transforms: ['Table', 'PartialObjectMetadata'] })
  const options = requestedOptions(request, 'CreateOptions')
  const { object: body, size } = await readSized(machinery, state, {
    gvk: definition.kind,
    type: definition.kind.type,
    fieldValidation: options.fieldValidation,
    required: definition.strategy.requiredMembers?.[''],
  })
  const context = writeContext(request, options)
  dropRepeatedOwners(body, { warn: context.warn, afterAdmission: false })
  const stored = await createObject(machinery.writer, definition, context, {
    namespace: state.info.namespace,
    object: view.toStorage(withDefaults(body, definition, machinery.writer.environment.profile, size)),
  })
  return presentStored(request, 201, stored, representation)
}

/** What a write stored, without encoding it again. */
export function presentStored(
  request: ResourceRequest,
  status: number,
  stored: Stored,
  representation: Parameters<typeof presentObject>[3],
): ApiResponse | Promise<ApiResponse> {
  const { view } = request
  const { entry, object } = stored
  if (
    entry !== undefined &&
    representation.encoding === 'json' &&
    representation.transform === undefined &&
    !wantsPretty(request, representation)
  ) {
    return jsonResponse(status, bytesBody(view.bytes(entry)))
  }
  return presentObject(request, status, view.present(object), representation)
}

/** PUT of an object or of a sub-resource that has its kind. */
export async function updateResource(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state, definition, view } = request
  const { namespace, name, subresource } = state.info
  const representation = negotiated(request, { transforms: ['Table', 'PartialObjectMetadata'] })
  const options = requestedOptions(request, 'UpdateOptions')
  const expected = {
    gvk: definition.kind,
    type: definition.kind.type,
    fieldValidation: options.fieldValidation,
    required: definition.strategy.requiredMembers?.[subresource],
  }
  const encoding = bodyEncoding(state, machinery.responder.vendor)
  const bytes = await state.request.body(machinery.limits.bodyBytes)
  const toStorage = ({ object, size }: SizedObject) =>
    view.toStorage(withDefaults(object, definition, machinery.writer.environment.profile, size))
  const decoded = decodeObject(machinery, state, expected, { bytes, encoding })
  const sized = decoded instanceof Promise ? await decoded : decoded
  const body = sized.object
  checkIdentity(body, name, namespace, definition.kind.namespaced)
  const context = writeContext(request, options)
  dropRepeatedOwners(body, { warn: context.warn, afterAdmission: false })
  const given = toStorage(sized)
  let fresh: ApiObject | undefined = given
  const answer = await updateObject(machinery.writer, definition, context, {
    namespace,
    name,
    subresource,
    uid: given.metadata.uid ?? '',
    createMissing: subresource === '' && definition.strategy.allowCreateOnUpdate === true,
    mayCreate: () => refuseUnlessAllowed(machinery.authorizer, { ...attributesOf(state), verb: 'create' }),
    // Runs again when another writer was first; each run starts from the body as it came.
    change() {
      const next = fresh ?? whenDone(decodeObject(machinery, state, expected, { bytes, encoding }), toStorage)
      fresh = undefined
      return next
    },
  })
  return presentStored(request, answer.created ? 201 : 200, answer, representation)
}

/** @throws ApiError 400 when the body names another object than the path. */
export function checkIdentity(object: ApiObject, name: string, namespace: string, namespaced: boolean): void {
  const given = object.metadata?.name ?? ''
  if (given === '')
    throw ApiError.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (given !== name) throw ApiError.badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
  const other = object.metadata.namespace ?? ''
  if (namespaced && other !== '' && other !== namespace) {
    throw ApiError.badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

/** DELETE of one object; @see API protocol specification, 3 and 7. */
export async function deleteResource(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state, definition } = request
  const { namespace, name } = state.info
  const representation = negotiated(request, { transforms: ['Table', 'PartialObjectMetadata'] })
  const options = await deleteOptions(request)
  validateDeleteOptions(options, machinery.writer.environment.profile)
  const answer = await deleteObject(
    machinery.writer,
    definition,
    writeContext(request, { dryRun: (options.dryRun ?? []).length > 0, fieldManager: '' }),
    {
      namespace,
      name,
      options,
    },
  )
  const status = !answer.removed && options.orphanDependents === false ? 202 : 200
  if (answersWithStatus(request, answer)) return deletionStatus(request, answer.object, status)
  return presentStored(request, status, answer, representation)
}

/** Kinds of the configuration specification answer with a Status always, others while the object lives on with the object. */
function answersWithStatus({ definition }: ResourceRequest, answer: DeleteResult): boolean {
  const { group, kind } = definition.kind
  if (group === '' && (kind === 'ConfigMap' || kind === 'Secret')) return true
  return answer.removed && definition.strategy.deleteAnswer !== 'Object'
}

function deletionStatus({ machinery, state, definition }: ResourceRequest, object: FrozenObject, code: number): ApiResponse {
  const status = {
    kind: 'Status' as const,
    apiVersion: 'v1' as const,
    metadata: {},
    status: 'Success' as const,
    details: {
      name: object.metadata.name ?? '',
      ...(definition.group === '' ? {} : { group: definition.group }),
      kind: definition.resource.name,
      uid: object.metadata.uid ?? '',
    },
  }
  return statusResponse(machinery.responder, status, header(state.request, 'accept'), code)
}

/** Options from the body where there is one, else from the query. @throws ApiError 400 */
export async function deleteOptions(request: ResourceRequest): Promise<DeleteOptions> {
  const { machinery, state, definition } = request
  const gvk = { group: definition.group, version: definition.version, kind: 'DeleteOptions' }
  const type = () => machinery.responder.types.struct('meta/v1.DeleteOptions')
  const expected: Expected = { gvk, type, fieldValidation: 'Ignore', anyGroup: true, unstored: true }
  const bytes = await readBytes(machinery, state, expected)
  if (bytes.byteLength === 0) return optionsFromQuery(request)
  const encoding = bodyEncoding(state, machinery.responder.vendor)
  const { object } = await decodeObject(machinery, state, expected, { bytes, encoding })
  return object as DeleteOptions
}

function optionsFromQuery({ state: { query } }: ResourceRequest): DeleteOptions {
  const gracePeriodSeconds = integer(query, 'gracePeriodSeconds')
  const propagationPolicy = text(query, 'propagationPolicy')
  const dryRun = (query.get('dryRun') ?? []).filter((word) => word !== '')
  return {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(query.has('orphanDependents') ? { orphanDependents: flag(query, 'orphanDependents') } : {}),
    ...(propagationPolicy === undefined || propagationPolicy === '' ? {} : { propagationPolicy }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  }
}

/** Objects deleted at a time by a deletecollection. */
const deletionWorkers = 16

/** DELETE of a collection: what matches when the list is made; each by the rules of a single deletion. */
export async function deleteCollection(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state, definition } = request
  const { query, info } = state
  negotiated(request, { transforms: ['Table', 'PartialObjectMetadataList'] })
  const selected = selectors(request)
  integer(query, 'timeoutSeconds')
  const options = await deleteOptions(request)
  validateDeleteOptions(options, machinery.writer.environment.profile)
  const context = writeContext(request, { dryRun: (options.dryRun ?? []).length > 0, fieldManager: '' })
  const { entries } = await listEntries(
    machinery.writer,
    definition,
    {
      namespace: info.namespace,
      ...selected,
      limit: integer(query, 'limit'),
      continueToken: text(query, 'continue'),
      resourceVersion: text(query, 'resourceVersion'),
      resourceVersionMatch: text(query, 'resourceVersionMatch'),
    },
    state.signal,
  )
  let next = 0
  const slices = new Slices(machinery.writer.slices)
  const work = async (): Promise<void> => {
    for (let entry = entries[next++]; entry !== undefined; entry = entries[next++]) {
      const { name = '', namespace = '' } = machinery.parsed.objectOf(entry).metadata
      try {
        await deleteObject(machinery.writer, definition, context, { namespace, name, options, collective: true })
      } catch (error) {
        // Somebody else deleted it meanwhile: that is what was asked for.
        if (!(ApiError.is(error) && error.reason === 'NotFound')) throw error
      }
      // Where storage answers at once, nothing else would have its turn before the end.
      if (slices.due(true)) await slices.next()
    }
  }
  await Promise.all(Array.from({ length: Math.min(deletionWorkers, entries.length) }, work))
  const status = {
    kind: 'Status' as const,
    apiVersion: 'v1' as const,
    metadata: {},
    status: 'Success' as const,
    details: { ...(definition.group === '' ? {} : { group: definition.group }), kind: definition.resource.name },
    code: 200,
  }
  return statusResponse(machinery.responder, status, header(state.request, 'accept'), 200)
}
