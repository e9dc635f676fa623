import { concatBytes } from '@krmkit/base/bytes'
import { startWork, type Work, whenDone } from '@krmkit/base/work'
import { defaultPrinter, printerOf, type ResourceDefinition } from '@krmkit/kinds'
import type { ApiBody, ApiResponse } from '@krmkit/protocol'
import { type Entry, isLargeEntry, type ListResult } from '@krmkit/registry'
import { apiVersionOf, memberBytes } from '../media/codec.ts'
import type { Representation } from '../media/negotiation.ts'
import { encodedResponse, jsonResponse } from '../media/response-writer.ts'
import type { RequestContext } from '../request/context.ts'
import type { RequestScope } from '../request/scope.ts'
import { inSerializationSpan } from '../tracing/handler-spans.ts'
import {
  CborListWriter,
  ElementText,
  jsonListWriter,
  type ListFrame,
  type ListWriter,
  protobufListWriter,
  yamlListWriter,
} from './list-writers.ts'
import { includeObject, metaForm, partialListOf, partialListType, partialOf, tableOf, tableRow } from './table.ts'

/** How a list is encoded: the frame, and the form of each element. */
interface ShownList extends ListFrame {
  element(entry: Entry): object
  /** Name of the list type. */
  readonly struct: string
}

/**
 * Encodes a list in the negotiated form, element by element, and in slices when it is long. JSON lists join the stored bytes without
 * parsing.
 */
export function listResponse(
  scope: RequestScope,
  context: RequestContext,
  listed: ListResult,
  representation: ListForm,
): ApiResponse | Promise<ApiResponse> {
  if (context.span === undefined) return encodedList(scope, context, listed, representation)
  return inSerializationSpan(context, () => encodedList(scope, context, listed, representation))
}

type ListForm = Representation & { readonly pretty: boolean }

function encodedList(
  scope: RequestScope,
  context: RequestContext,
  listed: ListResult,
  representation: ListForm,
): ApiResponse | Promise<ApiResponse> {
  const { transform, encoding, pretty } = representation
  const metadata = {
    resourceVersion: listed.resourceVersion,
    continue: listed.continueToken,
    ...(listed.remaining === undefined ? {} : { remainingItemCount: listed.remaining }),
  }
  if (encoding === 'json' && transform === undefined && !pretty) return joinedList(scope, listed.entries, metadata)
  const shown =
    transform === undefined
      ? wholeList(scope, metadata, encoding === 'json')
      : transformedList(scope, context, transform, metadata)
  return whenDone(shown, (list) => writtenList(scope, listed.entries, list, representation))
}

function writtenList(
  { definition, responses, turns, codec }: RequestScope,
  entries: readonly Entry[],
  shown: ShownList,
  { transform, encoding, pretty }: ListForm,
): ApiResponse | Promise<ApiResponse> {
  const struct = () =>
    definition.custom !== undefined && transform === undefined ? definition.kind.type() : responses.types.struct(shown.struct)
  const output =
    encoding === 'json'
      ? jsonListWriter(shown, { pretty })
      : encoding === 'yaml'
        ? yamlListWriter(shown)
        : encoding === 'cbor' && responses.cbor !== undefined
          ? new CborListWriter(shown, { cbor: responses.cbor, type: struct() })
          : protobufListWriter(shown, struct())
  const form = encoding === 'json' && transform === undefined ? 'bytes' : 'object'
  const ready = (entry: Entry) => codec.ready(entry, form, turns)
  const body = startWork(elements(output, shown, { entries, ready }), turns)
  return whenDone(body, (made) => encodedResponse(responses, 200, made, encoding))
}

function* elements(
  output: ListWriter,
  shown: ShownList,
  { entries, ready }: { readonly entries: readonly Entry[]; readonly ready: (entry: Entry) => Promise<unknown> | undefined },
): Work<ApiBody> {
  for (const entry of entries) {
    const preparing = ready(entry)
    if (preparing !== undefined) yield preparing
    yield* output.element(shown.element(entry))
    yield isLargeEntry(entry)
  }
  return output.end()
}

/** A list of whole objects. JSON uses the stored bytes of the objects. */
function wholeList({ definition, codec }: RequestScope, metadata: object, isJson: boolean): ShownList {
  const { group, version, listKind, type } = definition.kind
  const apiVersion = apiVersionOf(group, version)
  const isCustom = definition.custom !== undefined
  const folder = type().name.split('.')[0] ?? ''
  return {
    // Lists of custom resources have their members sorted by name.
    list: isCustom
      ? { apiVersion, items: [], kind: listKind, metadata: sortedMembers(metadata) }
      : { kind: listKind, apiVersion, metadata, items: [] },
    member: 'items',
    struct: `${folder}.${listKind}`,
    element(entry) {
      if (isJson) return new ElementText(`{${decoder.decode(memberBytes(codec, entry))}`)
      const object = codec.object(entry)
      if (isCustom) return object
      const { kind: _kind, apiVersion: _apiVersion, ...members } = object
      return members
    },
  }
}

/** A Table, or a list of metadata. */
function transformedList(
  { definition, codec, clock, profile }: RequestScope,
  { query }: RequestContext,
  transform: NonNullable<Representation['transform']>,
  metadata: object,
): ShownList | Promise<ShownList> {
  const form = metaForm(definition, transform.version, profile)
  if (transform.as !== 'Table') {
    return {
      list: partialListOf([], metadata, form) as ListFrame['list'],
      member: 'items',
      // kube-apiserver builds this list by appending, so an empty one is null.
      nullIfEmpty: true,
      struct: partialListType(transform),
      element: (entry) => partialOf(codec.object(entry), form),
    }
  }
  const options = { ...form, include: includeObject(query), now: clock.now() }
  return whenDone(printerOf(definition), (printer) => ({
    list: tableOf(printer, [], metadata, options) as ListFrame['list'],
    member: 'rows',
    // kube-apiserver prints kinds without their own columns by another function, whose empty list of rows is null.
    nullIfEmpty: printer === defaultPrinter && definition.custom === undefined,
    struct: 'meta/v1.Table',
    element: (entry) => tableRow(printer, codec.object(entry), options),
  }))
}

function sortedMembers(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const decoder = new TextDecoder()
const listEnd = new TextEncoder().encode(']}\n')

function joinedList(scope: RequestScope, entries: readonly Entry[], metadata: object): ApiResponse | Promise<ApiResponse> {
  const { definition, listChunks, codec, turns } = scope
  const body = startWork(listChunks.steps(codec, entries, { ...listEnvelope(definition, metadata), turns }), turns)
  return whenDone(body, (made) => jsonResponse(200, joined(made)))
}

/** Lists of at most this many bytes are joined to one chunk, which adapters write at once instead of as a stream. */
const joinedBytes = 64 * 1024

function joined(body: ApiBody): ApiBody {
  if (body.kind !== 'list' || body.length > joinedBytes) return body
  const pieces = body.parts.map((part) => (part instanceof Uint8Array ? part : part.bytes()))
  return { kind: 'bytes', bytes: concatBytes(pieces, body.length) }
}

/** The bytes before and after the items. Lists of custom resources have their members sorted by name. */
function listEnvelope({ kind, custom }: ResourceDefinition, metadata: object): { head: Uint8Array; end: Uint8Array } {
  const { group, version, listKind } = kind
  const apiVersion = apiVersionOf(group, version)
  const encode = (text: string) => new TextEncoder().encode(text)
  if (custom === undefined) {
    return { head: encode(`${JSON.stringify({ kind: listKind, apiVersion, metadata }).slice(0, -1)},"items":[`), end: listEnd }
  }
  const end = encode(`],"kind":"${listKind}","metadata":${JSON.stringify(sortedMembers(metadata))}}\n`)
  return { head: encode(`{"apiVersion":"${apiVersion}","items":[`), end }
}
