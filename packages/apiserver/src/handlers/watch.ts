import { defaultPrinter, printerOf } from '@krmkit/kinds'
import { ApiError, type Features, type FieldError, field, type NamingProfile, type Status } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { ApiResponse, SharedEvent } from '@krmkit/protocol'
import type { ResourceWatch } from '@krmkit/registry'
import { framesFor, isShared, type RowForm, sharedEventsFor } from '../encoding/frames.ts'
import { includeObject } from '../encoding/table.ts'
import { acceptsGzipStream, gzipEach } from '../media/compressed-stream.ts'
import { streamType } from '../media/negotiation.ts'
import type { RequestContext } from '../request/context.ts'
import { flag, integer, text } from '../request/query.ts'
import { negotiated, type RequestScope } from '../request/scope.ts'
import { versionOptions } from './list.ts'
import type { Chunks } from './live-events.ts'
import { usableSelectors, wellFormedSelectors } from './selectors.ts'
import { type WatchTerms, watchStream } from './watch-stream.ts'

/** WATCH of a collection or of one object. @see API protocol specification, 2.4 and 4.2 */
export async function watchResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { responses, features } = scope
  const options = watchOptions(context, scope)
  // Before 1.34, a streamed list has objects, whose bookmark holds an empty list of their kind.
  const isStreamedList = options.initialEvents === true && options.bookmarks
  const representation = negotiated(scope, context, {
    transforms:
      isStreamedList && !features.release.atLeast('1.34') ? ['PartialObjectMetadata'] : ['Table', 'PartialObjectMetadata'],
  })
  const terms = watchTerms(scope, context, options)
  const rows = representation.transform?.as === 'Table' ? await rowForm(scope, context) : withoutRows
  const contentType =
    representation.encoding === 'json' ? 'application/json' : streamType(representation.encoding, responses.vendor)
  const watch = await startWatch(scope, context, terms)
  try {
    responses.negotiator.requireStream(representation)
  } catch (error) {
    if (isStarted(watch)) watch.close()
    throw error
  }
  if (!isStarted(watch) || !watch.hasInitial) context.watchInitialized?.()
  const request = { scope, context, terms, watch }
  const cache = scope.codec.frames.of(representation)
  const shared = isShared(representation) ? cache : undefined
  const frames = framesFor(scope, representation, { rows, cache })
  const { stream, ready } = watchStream(request, frames, {
    join: (joined) => cache.join(joined),
    batch: (events, make) => shared?.batch(events, make) ?? make(),
  })
  const headers = { 'cache-control': 'no-cache, private', 'content-type': contentType }
  const isCompressed = isStreamedList && gateEnabled('WatchListCompression', scope.features) && acceptsGzipStream(context.request)
  return {
    status: 200,
    headers: isCompressed ? { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' } : headers,
    body: {
      kind: 'stream',
      ...(isCompressed ? { stream: gzipEach(stream) } : { stream, ready }),
      get events() {
        return watchStream(request, sharedEventsFor(scope, representation, rows), ofObjects).stream
      },
    },
  }
}

const withoutRows: RowForm = { include: 'Metadata', printer: defaultPrinter }

async function rowForm({ definition }: RequestScope, { query }: RequestContext): Promise<RowForm> {
  return { include: includeObject(query), printer: await printerOf(definition) }
}

/** Chunks for events that are not encoded, which watches do not share. */
const ofObjects: Chunks<SharedEvent, readonly SharedEvent[]> = { join: (batch) => [batch], batch: (_, make) => make() }

/** The parameters of a watch, as parsed from the query. */
interface WatchOptions extends Omit<WatchTerms, 'timeoutMs'> {
  readonly seconds: number | undefined
}

/** Reads and checks parameters in the order of kube-apiserver. @throws ApiError 400, 422 without the gate `WatchList`. */
function watchOptions(context: RequestContext, { features, profile }: RequestScope): WatchOptions {
  const { info, query } = context
  const seconds = integer(query, 'timeoutSeconds')
  integer(query, 'limit')
  const selected = wellFormedSelectors(context, features)
  const bookmarks = flag(query, 'allowWatchBookmarks')
  // As on kube-apiserver, a watch by the deprecated path, without the parameter `watch`, is checked by the rules of a list.
  if (info.watchPrefix && !flag(query, 'watch')) {
    versionOptions(context)
    return { selected, seconds, initialEvents: undefined, bookmarks, marksInitialEnd: false }
  }
  const isAsked = features.release.atLeast('1.27') && query.has('sendInitialEvents')
  const match = text(query, 'resourceVersionMatch') ?? ''
  if (isAsked && !gateEnabled('WatchList', features)) throw streamedListsAreOff(match, profile)
  if (isAsked && match !== 'NotOlderThan') {
    throw ApiError.badRequest('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')
  }
  if (!isAsked && match !== '')
    throw ApiError.badRequest('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided')
  const initialEvents = isAsked ? flag(query, 'sendInitialEvents') : streamsByDefault(text(query, 'resourceVersion'), features)
  if ((match !== '' || initialEvents === true) && (text(query, 'continue') ?? '') !== '') {
    const detail = 'resourceVersionMatch is forbidden when continue is provided'
    if (isAsked || !features.release.atLeast('1.34')) throw ApiError.badRequest(detail)
    throw listOptionsInvalid(profile, [field.forbidden('resourceVersionMatch', detail)])
  }
  return { selected, seconds, initialEvents, bookmarks, marksInitialEnd: isAsked }
}

/**
 * Whether a watch that begins with the existing objects is a streamed list although `sendInitialEvents` is absent. This is so where
 * kube-apiserver enables the gate `WatchList`. Differs: not in releases where only this server enables the gate by default; and the bookmark
 * after the existing objects has no annotations, which only clients that ask for a streamed list expect.
 */
function streamsByDefault(version: string | undefined, features: Features): true | undefined {
  const { configured, release } = features
  const isOn =
    configured?.has('WatchList') === true
      ? gateEnabled('WatchList', features)
      : release.atLeast('1.34') || (release.atLeast('1.32') && !release.atLeast('1.33'))
  return isOn && (version === undefined || version === '' || version === '0') ? true : undefined
}

function listOptionsInvalid({ apiDomain }: NamingProfile, errors: readonly FieldError[]): ApiError {
  return ApiError.invalid({ group: `meta.${apiDomain}`, kind: 'ListOptions' }, '', errors)
}

function streamedListsAreOff(match: string, profile: NamingProfile): ApiError {
  const unmatched = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'
  return listOptionsInvalid(profile, [
    ...(match === 'NotOlderThan' ? [] : [field.forbidden('resourceVersionMatch', unmatched)]),
    field.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'),
    ...(match === '' || match === 'NotOlderThan' ? [] : [field.notSupported('resourceVersionMatch', match, ['NotOlderThan'])]),
  ])
}

/** @throws ApiError 400, before anything is streamed. */
function watchTerms(scope: RequestScope, { info }: RequestContext, { seconds, ...options }: WatchOptions): WatchTerms {
  const selected = usableSelectors(scope, options.selected)
  if (info.name !== '') {
    const { fieldSelector } = selected
    // As on kube-apiserver, a field selector must require the name in the path, whatever else it requires.
    if (fieldSelector !== undefined && fieldSelector.exactMatch('metadata.name') !== info.name)
      throw ApiError.badRequest("fieldSelector metadata.name doesn't match requested name")
  }
  return { ...options, selected, timeoutMs: timeoutMs(scope, seconds) }
}

/** Zero counts as absent. As on kube-apiserver, a negative timeout ends the watch at once. */
function timeoutMs({ limits, random }: RequestScope, seconds = 0): number {
  if (seconds !== 0) return Math.min(Math.max(0, seconds) * 1000, 2 ** 31 - 1)
  const shortest = limits.watchMs
  const jitter = ((random.bytes(1)[0] ?? 0) / 256) * shortest
  return shortest + jitter
}

/** Starts the watch. For a compacted version, the response has status 200 and the error is the first and only event. */
async function startWatch(
  { store }: RequestScope,
  { info, query, signal }: RequestContext,
  { selected, initialEvents }: WatchTerms,
): Promise<ResourceWatch | Status> {
  const { namespace, name } = info
  const resourceVersion = text(query, 'resourceVersion')
  try {
    return await store.watch({ namespace, name, ...selected, resourceVersion, sendInitialEvents: initialEvents }, signal)
  } catch (error) {
    if (ApiError.is(error) && error.reason === 'Expired') return error.status
    throw error
  }
}

function isStarted(watch: ResourceWatch | Status): watch is ResourceWatch {
  return 'takeInitial' in watch
}
