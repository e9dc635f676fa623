import { defaultPrinter, type ResourceDefinition } from '@krmkit/kinds'
import { runSyncOrInSlices } from '@krmkit/meta'
import { isLargeEntry, type ListAnswer } from '@krmkit/registry'
import type { Entry } from '@krmkit/storage'
import type { ApiBody, ApiResponse } from '../interfaces.ts'
import {
  ElementText,
  jsonListWriter,
  type ListFrame,
  type ListWriter,
  protobufListWriter,
  yamlListWriter,
} from '../list-writers.ts'
import type { Representation } from '../negotiation.ts'
import type { ResourceRequest } from '../resource-handler.ts'
import { encodedResponse, jsonResponse } from '../responses.ts'
import { includeObject, partialListOf, partialOf, printerOf, tableOf, tableRow } from '../table.ts'
import { apiVersionOf, memberBytes } from '../view.ts'

/** How a list is shown: what stands around its elements, and each of them. */
interface ShownList extends ListFrame {
  element(entry: Entry): object
  /** Name of the type of the whole. */
  readonly struct: string
}

/**
 * A list in the negotiated form, made element by element, in slices where it is long. For JSON the stored bytes are joined, never
 * parsed or encoded again.
 */
export function presentList(
  request: ResourceRequest,
  answer: ListAnswer,
  representation: Representation & { readonly pretty: boolean },
): ApiResponse | Promise<ApiResponse> {
  const { machinery, definition } = request
  const { responder, writer } = machinery
  const { transform, encoding, pretty } = representation
  const metadata = {
    resourceVersion: String(answer.revision),
    continue: answer.continueToken,
    ...(answer.remaining === undefined ? {} : { remainingItemCount: answer.remaining }),
  }
  if (encoding === 'json' && transform === undefined && !pretty) return joinedList(request, answer.entries, metadata)
  const shown =
    transform === undefined ? wholeList(request, metadata, encoding === 'json') : otherList(request, transform, metadata)
  const struct = () =>
    definition.custom !== undefined && transform === undefined ? definition.kind.type() : responder.types.struct(shown.struct)
  const output =
    encoding === 'json'
      ? jsonListWriter(shown, { pretty })
      : encoding === 'yaml'
        ? yamlListWriter(shown)
        : protobufListWriter(shown, struct())
  const body = runSyncOrInSlices(elements(output, shown, answer.entries), writer.slices)
  const respond = (made: ApiBody) => encodedResponse(responder, 200, made, encoding)
  return body instanceof Promise ? body.then(respond) : respond(body)
}

function* elements(output: ListWriter, shown: ShownList, entries: readonly Entry[]): Generator<boolean, ApiBody> {
  for (const entry of entries) {
    yield* output.element(shown.element(entry))
    yield isLargeEntry(entry)
  }
  return output.end()
}

/** Objects as they are. In JSON their bytes exist already. */
function wholeList({ definition, view }: ResourceRequest, metadata: object, isJson: boolean): ShownList {
  const { group, version, listKind, type } = definition.kind
  const apiVersion = apiVersionOf(group, version)
  const isCustom = definition.custom !== undefined
  const folder = type().name.split('.')[0] ?? ''
  return {
    // Lists of custom resources, too, have their members by name.
    list: isCustom ? { apiVersion, items: [], kind: listKind, metadata } : { kind: listKind, apiVersion, metadata, items: [] },
    member: 'items',
    struct: `${folder}.${listKind}`,
    element(entry) {
      if (isJson) return new ElementText(`{${decoder.decode(memberBytes(view, entry))}`)
      const object = view.object(entry)
      if (isCustom) return object
      const { kind: _kind, apiVersion: _apiVersion, ...members } = object
      return members
    },
  }
}

/** Rows of a table, or metadata alone. */
function otherList(
  { machinery, state, definition, view }: ResourceRequest,
  transform: NonNullable<Representation['transform']>,
  metadata: object,
): ShownList {
  const { clock, profile } = machinery.writer.environment
  const form = { version: transform.version, profile }
  if (transform.as !== 'Table') {
    return {
      list: partialListOf([], metadata, form) as ListFrame['list'],
      member: 'items',
      struct: 'meta/v1.PartialObjectMetadataList',
      element: (entry) => partialOf(view.object(entry), form),
    }
  }
  const printer = printerOf(definition) ?? defaultPrinter
  const options = { ...form, include: includeObject(state.query), now: clock.now() }
  return {
    list: tableOf(printer, [], metadata, options) as ListFrame['list'],
    member: 'rows',
    struct: 'meta/v1.Table',
    element: (entry) => tableRow(printer, view.object(entry), options),
  }
}

const decoder = new TextDecoder()
const listEnd = new TextEncoder().encode(']}\n')

function joinedList(request: ResourceRequest, entries: readonly Entry[], metadata: object): ApiResponse | Promise<ApiResponse> {
  const { definition, machinery, view } = request
  const body = runSyncOrInSlices(machinery.runs.steps(view, entries, listEnvelope(definition, metadata)), machinery.writer.slices)
  return body instanceof Promise ? body.then((made) => jsonResponse(200, made)) : jsonResponse(200, body)
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
