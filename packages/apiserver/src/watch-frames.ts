import { defaultPrinter } from '@krmkit/kinds'
import type { Status } from '@krmkit/meta'
import type { FrozenObject } from '@krmkit/registry'
import { encodeJson, encodeProtobuf, encodeWatchFrame } from '@krmkit/schema'
import type { Entry, Revision } from '@krmkit/storage'
import type { EventType } from './frame-cache.ts'
import type { SharedEvent } from './interfaces.ts'
import { listBlueprint } from './list-blueprint.ts'
import type { Representation, Transform } from './negotiation.ts'
import type { ResourceRequest } from './resource-handler.ts'
import { type IncludeObject, partialOf, tableOf } from './table.ts'
import { apiVersionOf } from './version-codec.ts'

/** Makes the frames of one watch stream: bytes, or the events themselves. */
export interface Frames<T> {
  event(type: EventType, entry: Entry): T
  /** An object that left the selection: its last selected state, at the revision in which it left. */
  left(previous: Entry, revision: Revision): T
  bookmark(revision: Revision, initialEventsEnd: boolean): T
  status(status: Status): T
}

const frameEnd = new TextEncoder().encode('}\n')
const heads = new Map<string, Uint8Array>(
  ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'].map((type) => [
    type,
    new TextEncoder().encode(`{"type":"${type}","object":`),
  ]),
)

function jsonFrame(type: string, document: Uint8Array): Uint8Array {
  const bare = document[document.byteLength - 1] === 0x0a ? document.subarray(0, document.byteLength - 1) : document
  return Buffer.concat([heads.get(type) as Uint8Array, bare, frameEnd])
}

/** How one watch shows objects, before they are encoded. */
interface Shown {
  object(object: FrozenObject): object
  left(previous: FrozenObject, revision: Revision): object
  bookmark(revision: Revision, initialEventsEnd: boolean): object
}

function shownFor(request: ResourceRequest, representation: Representation, include: IncludeObject): Shown {
  const { transform } = representation
  const { machinery, definition } = request
  const { group, version, kind } = definition.kind
  const { clock, profile } = machinery.writer.environment
  let tableHeaderSent = false

  const shown = (object: FrozenObject): object => {
    if (transform === undefined) return object
    if (transform.as !== 'Table') return partialOf(object, { version: transform.version, profile })
    const table = tableOf(
      definition.strategy.printer ?? defaultPrinter,
      [object],
      { resourceVersion: object.metadata.resourceVersion ?? '' },
      {
        version: transform.version,
        profile,
        include,
        now: clock.now(),
        headless: tableHeaderSent,
      },
    )
    tableHeaderSent = true
    return table
  }
  return {
    object: shown,
    left: (object, revision) =>
      shown({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } } as FrozenObject),
    bookmark(revision, initialEventsEnd) {
      const annotations = !initialEventsEnd
        ? {}
        : {
            annotations: {
              [`${profile.apiDomain}/initial-events-end`]: 'true',
              [`${profile.domain}/initial-events-list-blueprint`]: listBlueprint(request, representation),
            },
          }
      const object = {
        kind,
        apiVersion: apiVersionOf(group, version),
        metadata: { resourceVersion: String(revision), ...annotations },
      }
      return transform === undefined ? object : bookmarkForm(request, transform, object, include)
    },
  }
}

/** Events for callers who need no bytes. */
export function sharedEventsFor(
  request: ResourceRequest,
  representation: Representation,
  include: IncludeObject,
): Frames<SharedEvent> {
  const { view } = request
  const shown = shownFor(request, representation, include)
  return {
    event: (type, entry) => ({ type, object: shown.object(view.object(entry)) }),
    left: (previous, revision) => ({ type: 'DELETED', object: shown.left(view.object(previous), revision) }),
    bookmark: (revision, initialEventsEnd) => ({ type: 'BOOKMARK', object: shown.bookmark(revision, initialEventsEnd) }),
    status: (object) => ({ type: 'ERROR', object }),
  }
}

export function framesFor(request: ResourceRequest, representation: Representation, include: IncludeObject): Frames<Uint8Array> {
  const { machinery, view, definition } = request
  const { encoding, transform } = representation
  const { types } = machinery.responder
  const shown = shownFor(request, representation, include)
  const encode = (type: string, object: object): Uint8Array => {
    if (encoding === 'json') return jsonFrame(type, encodeJson(object))
    const structName = transform === undefined ? undefined : `meta/v1.${transform.as}`
    const struct =
      (object as { kind?: string }).kind === 'Status'
        ? types.struct('meta/v1.Status')
        : structName === undefined
          ? definition.kind.type()
          : types.struct(structName)
    return encodeWatchFrame({ type, object: encodeProtobuf(struct, object) })
  }
  const plain = encoding === 'json' && transform === undefined

  return {
    event: (type, entry) =>
      plain
        ? view.frames.get(type, entry, () => jsonFrame(type, view.bytes(entry)))
        : encode(type, shown.object(view.object(entry))),
    left: (previous, revision) => encode('DELETED', shown.left(view.object(previous), revision)),
    bookmark: (revision, initialEventsEnd) => encode('BOOKMARK', shown.bookmark(revision, initialEventsEnd)),
    status: (status) => encode('ERROR', status),
  }
}

function bookmarkForm(
  { definition, machinery }: ResourceRequest,
  { as, version }: Transform,
  object: FrozenObject,
  include: IncludeObject,
): object {
  const { clock, profile } = machinery.writer.environment
  const form = { version, profile }
  if (as !== 'Table') return partialOf(object, form)
  const { resourceVersion = '' } = object.metadata
  return tableOf(definition.strategy.printer ?? defaultPrinter, [], { resourceVersion }, { ...form, include, now: clock.now() })
}
