import { isLargeValue, runInLaterTurns, whenDone } from '@krmkit/base/work'
import type { Printer } from '@krmkit/kinds'
import type { Status } from '@krmkit/meta'
import type { SharedEvent } from '@krmkit/protocol'
import type { Entry, FrozenObject } from '@krmkit/registry'
import type { StructType } from '@krmkit/schema'
import { apiVersionOf } from '../media/codec.ts'
import type { EventType, FrameCache } from '../media/frame-cache.ts'
import type { Representation, Transform } from '../media/negotiation.ts'
import type { RequestScope } from '../request/scope.ts'
import { listBlueprint } from './list-blueprint.ts'
import { type IncludeObject, metaForm, partialOf, tableOf } from './table.ts'
import { encodeFrame } from './watch-frame.direct.ts'
import * as paced from './watch-frame.ts'
import { jsonFrame } from './watch-frame.ts'

/** How the rows of a watch of Tables are printed. */
export interface RowForm {
  readonly include: IncludeObject
  readonly printer: Printer
}

/**
 * Creates the frames of one watch stream: bytes, or the events themselves. Frames of large entries are created in slices and returned as
 * promises.
 */
export interface Frames<T> {
  event(type: EventType, entry: Entry): T | Promise<T>
  /** The frame for an object that left the selection: its last selected state, with the version at which it left. */
  left(previous: Entry, resourceVersion: string): T | Promise<T>
  bookmark(resourceVersion: string, initialEventsEnd: boolean): T
  status(status: Status): T
}

/** The objects of watch events in the form of one watch, before encoding. */
interface Shown {
  object(object: FrozenObject): object
  left(previous: FrozenObject, resourceVersion: string): object
  bookmark(resourceVersion: string, initialEventsEnd: boolean): object
}

function shownFor(scope: RequestScope, representation: Representation, { include, printer }: RowForm): Shown {
  const { transform } = representation
  const { definition, clock, profile } = scope
  const { group, version, kind } = definition.kind
  let tableHeaderSent = false

  const shown = (object: FrozenObject): object => {
    if (transform === undefined) return object
    const form = metaForm(definition, transform.version, profile)
    if (transform.as !== 'Table') return partialOf(object, form)
    const table = tableOf(
      printer,
      [object],
      { resourceVersion: object.metadata.resourceVersion ?? '' },
      { ...form, include, now: clock.now(), headless: tableHeaderSent },
    )
    tableHeaderSent = true
    return table
  }
  return {
    object: shown,
    left: (object, resourceVersion) => shown({ ...object, metadata: { ...object.metadata, resourceVersion } } as FrozenObject),
    bookmark(resourceVersion, initialEventsEnd) {
      const object = {
        kind,
        apiVersion: apiVersionOf(group, version),
        metadata: { resourceVersion, ...(initialEventsEnd ? { annotations: endAnnotations(scope, representation) } : {}) },
      }
      if (transform === undefined) return object
      const form = bookmarkForm(scope, transform, object, { include, printer, headless: tableHeaderSent })
      tableHeaderSent = true
      return form
    },
  }
}

/** Annotations of the bookmark that ends a streamed list: before 1.34 with an empty list of the kind. */
function endAnnotations(scope: RequestScope, representation: Representation): Record<string, string> {
  const { profile, features } = scope
  const end = { [`${profile.apiDomain}/initial-events-end`]: 'true' }
  if (features.release.atLeast('1.34')) return end
  return { ...end, [`${profile.domain}/initial-events-list-blueprint`]: listBlueprint(scope, representation) }
}

/** Unencoded events, for in-process callers. */
export function sharedEventsFor(scope: RequestScope, representation: Representation, rows: RowForm): Frames<SharedEvent> {
  const { codec, turns } = scope
  const shown = shownFor(scope, representation, rows)
  const whenReady = <T>(entry: Entry, make: () => T) => whenDone(codec.ready(entry, 'object', turns), make)
  return {
    event: (type, entry) => whenReady(entry, () => ({ type, object: shown.object(codec.object(entry)) })),
    left: (previous, version) =>
      whenReady(previous, () => ({ type: 'DELETED', object: shown.left(codec.object(previous), version) })),
    bookmark: (version, initialEventsEnd) => ({ type: 'BOOKMARK', object: shown.bookmark(version, initialEventsEnd) }),
    status: (object) => ({ type: 'ERROR', object }),
  }
}

/** Whether all watches with this representation send the same frame for an event. */
export function isShared({ transform }: Representation): boolean {
  return transform?.as !== 'Table'
}

/**
 * Frames as bytes. `cache` shares event frames between watches, except rows of Tables, because the first row of each watch carries the
 * column definitions.
 */
export function framesFor(
  scope: RequestScope,
  representation: Representation,
  { rows, cache }: { readonly rows: RowForm; readonly cache: FrameCache },
): Frames<Uint8Array> {
  const { codec, definition, turns } = scope
  const { encoding, transform } = representation
  const { types, cbor } = scope.responses
  const structOf = (object: object): StructType => {
    if ((object as { kind?: string }).kind === 'Status') return types.struct('meta/v1.Status')
    return transform === undefined ? definition.kind.type() : types.struct(`meta/v1.${transform.as}`)
  }
  const shown = shownFor(scope, representation, rows)
  const form = { encoding, cbor, structOf }
  const encode = (type: string, object: object) => encodeFrame(type, object, form)
  const encoded = (type: string, object: object) =>
    isLargeValue(object) ? runInLaterTurns(paced.encodeFrame(type, object, form), turns) : encode(type, object)
  const isPlain = encoding === 'json' && transform === undefined
  const make = (type: EventType, entry: Entry): Uint8Array | Promise<Uint8Array> =>
    whenDone(codec.ready(entry, isPlain ? 'bytes' : 'object', turns), () =>
      isPlain ? jsonFrame(type, codec.bytes(entry)) : encoded(type, shown.object(codec.object(entry))),
    )

  return {
    event: isShared(representation)
      ? (type, entry) => cache.get(type, entry, () => make(type, entry))
      : (type, entry) => make(type, entry),
    left: (previous, version) =>
      whenDone(codec.ready(previous, 'object', turns), () => encoded('DELETED', shown.left(codec.object(previous), version))),
    bookmark: (version, initialEventsEnd) => encode('BOOKMARK', shown.bookmark(version, initialEventsEnd)),
    status: (status) => encode('ERROR', status),
  }
}

function bookmarkForm(
  { definition, clock, profile }: RequestScope,
  { as, version }: Transform,
  object: FrozenObject,
  { printer, ...rows }: RowForm & { readonly headless: boolean },
): object {
  const form = metaForm(definition, version, profile)
  if (as !== 'Table') {
    // Metadata of custom resources gets a creationTimestamp even when the object has none.
    const { metadata, ...type } = partialOf(object, form)
    const { creationTimestamp: _, ...shown } = metadata
    return { ...type, metadata: shown }
  }
  const { resourceVersion = '', annotations } = object.metadata
  // A row shows the annotations that mark the end of a streamed list.
  return tableOf(printer, annotations === undefined ? [] : [object], { resourceVersion }, { ...form, ...rows, now: clock.now() })
}
