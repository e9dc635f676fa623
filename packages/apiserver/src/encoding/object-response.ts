import { whenDone } from '@krmkit/base/work'
import type { DeepReadonly, GroupVersionKind } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import type { Entry, Stored } from '@krmkit/registry'
import type { StructType } from '@krmkit/schema'
import type { EntryForm } from '../media/codec.ts'
import type { Representation } from '../media/negotiation.ts'
import { bytesBody, jsonResponse, slicedResponse } from '../media/response-writer.ts'
import type { RequestContext } from '../request/context.ts'
import type { RequestScope } from '../request/scope.ts'
import { inSerializationSpan } from '../tracing/handler-spans.ts'
import { wantsPretty } from './indentation.ts'
import { includeObject, metaForm, partialOf, printerOfObject, tableOf } from './table.ts'

/** The response with the object of a stored entry. A client that accepts plain JSON gets the stored bytes unchanged. */
export function entryResponse(
  scope: RequestScope,
  context: RequestContext,
  entry: Entry,
  representation: Representation,
  status = 200,
): ApiResponse | Promise<ApiResponse> {
  const respond = () =>
    isPlainJson(context, representation)
      ? jsonResponse(status, bytesBody(scope.codec.bytes(entry)))
      : objectResponse(scope, context, scope.codec.object(entry), { representation, status })
  return context.span === undefined ? respond() : inSerializationSpan(context, respond)
}

/** The response with the result of a write; the object is not encoded again. */
export function storedResponse(
  scope: RequestScope,
  context: RequestContext,
  stored: Stored,
  form: ResponseForm,
): ApiResponse | Promise<ApiResponse> {
  if (context.span === undefined) return encodedStored(scope, context, stored, form)
  return inSerializationSpan(context, () => encodedStored(scope, context, stored, form))
}

function encodedStored(
  scope: RequestScope,
  context: RequestContext,
  { entry, object }: Stored,
  { representation, status }: ResponseForm,
): ApiResponse | Promise<ApiResponse> {
  if (entry !== undefined && isPlainJson(context, representation)) {
    return whenDone(scope.codec.ready(entry, 'bytes', scope.turns), () =>
      jsonResponse(status, bytesBody(scope.codec.bytes(entry))),
    )
  }
  const form = { representation, status }
  return whenDone(scope.codec.present(object, scope.turns), (shown) => objectResponse(scope, context, shown, form))
}

/** Whether a response needs the bytes or the object of an entry. */
export function entryForm(context: RequestContext, representation: Representation): EntryForm {
  return isPlainJson(context, representation) ? 'bytes' : 'object'
}

function isPlainJson(context: RequestContext, representation: Representation): boolean {
  return representation.encoding === 'json' && representation.transform === undefined && !wantsPretty(context, representation)
}

/** How an object is encoded in a response. */
export interface ResponseForm {
  readonly representation: Representation
  readonly status: number
}

/** The response with an object in the version of the request. Returns a promise for a Table, and for a large object with indentation. */
export function objectResponse(
  scope: RequestScope,
  context: RequestContext,
  object: DeepReadonly<object>,
  { representation, status }: ResponseForm,
): ApiResponse | Promise<ApiResponse> {
  const { responses, turns, clock, profile, definition } = scope
  const { types } = responses
  const { transform } = representation
  const shown = { ...representation, pretty: wantsPretty(context, representation) }
  const respond = (body: object, type: () => StructType) => slicedResponse({ responses, turns: turns }, status, body, shown, type)
  if (transform === undefined) return respond(object, () => typeOf(scope, object))
  const form = metaForm(definition, transform.version, profile)
  const whole = object as Parameters<typeof partialOf>[0]
  if (transform.as !== 'Table') return respond(partialOf(whole, form), () => types.struct('meta/v1.PartialObjectMetadata'))
  return printerOfObject(definition, whole).then((printer) => {
    if (printer === undefined) return respond(object, () => typeOf(scope, object))
    // An object that a dry run would create has no resourceVersion.
    const { resourceVersion } = whole.metadata
    const metadata = resourceVersion === undefined ? {} : { resourceVersion }
    const table = tableOf(printer, [whole], metadata, { ...form, include: includeObject(context.query), now: clock.now() })
    return respond(table, () => types.struct('meta/v1.Table'))
  })
}

function typeOf({ definition, kind: find, responses }: RequestScope, object: DeepReadonly<object>): StructType {
  const { kind, apiVersion = '' } = object as { kind?: string; apiVersion?: string }
  if (kind === undefined || kind === definition.kind.kind) return definition.kind.type()
  const slash = apiVersion.indexOf('/')
  const gvk: GroupVersionKind = { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind }
  return find(gvk)?.type() ?? responses.types.struct('meta/v1.Status')
}
