import type { RequestInfo } from '../request/info.ts'
import { flag, type Query, text } from '../request/query.ts'

/** Estimated cost of a request. */
export interface WorkEstimate {
  /** Seats during execution. */
  readonly initialSeats: number
  /** Seats for `lingerMs` after the end, while watchers are notified. */
  readonly finalSeats: number
  readonly lingerMs: number
}

export interface WorkSources {
  /** Number of stored objects of a resource; undefined for a resource without a store. */
  readonly objectCount: (group: string, resource: string) => number | undefined
  /** Number of watches that may be affected by a change of this request. */
  readonly watchCount: (info: RequestInfo) => number
}

const objectsPerSeat = 100
const watchesPerSeat = 10
const eventMs = 5
/** Maximum seats of one request in any level. */
export const maxSeatsPerRequest = 10

const oneSeat: WorkEstimate = { initialSeats: 1, finalSeats: 0, lingerMs: 0 }
const manySeats: readonly WorkEstimate[] = Array.from({ length: maxSeatsPerRequest + 1 }, (_, initialSeats) => ({
  ...oneSeat,
  initialSeats,
}))

const mutating: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete'])

/**
 * Estimates seats: one per 100 objects that a list (or a watch with initial events) reads; one per 10 watches that a write affects,
 * held for 5 ms; at least 1 and at most `maxSeats`.
 */
export function estimateWork(
  { info, query }: { readonly info: RequestInfo; readonly query: Query },
  sources: WorkSources,
  maxSeats: number,
  watches: number,
): WorkEstimate {
  if (info.verb === 'list') return listWork(info, query, { sources, maxSeats })
  if (info.verb === 'watch') return flag(query, 'sendInitialEvents') ? listWork(info, query, { sources, maxSeats }) : oneSeat
  if (watches < watchesPerSeat) return oneSeat
  const finalSeats = Math.ceil(watches / watchesPerSeat)
  const limited = Math.min(finalSeats, maxSeats)
  // The same work takes longer on fewer seats.
  return { initialSeats: 1, finalSeats: limited, lingerMs: (eventMs * finalSeats) / limited }
}

/** Whether the request can cause watch events. */
export function affectsWatches({ isResource, verb, resource, subresource }: RequestInfo): boolean {
  return isResource && mutating.has(verb) && !(resource === 'serviceaccounts' && subresource === 'token')
}

function listWork(
  info: RequestInfo,
  query: Query,
  { sources, maxSeats }: { readonly sources: WorkSources; readonly maxSeats: number },
): WorkEstimate {
  const stored = sources.objectCount(info.group, info.resource)
  if (stored === undefined || stored <= objectsPerSeat) return oneSeat
  const seats = Math.ceil(objectsToRead(info, query, stored) / objectsPerSeat)
  return manySeats[Math.max(1, Math.min(seats, maxSeats, maxSeatsPerRequest))] as WorkEstimate
}

function objectsToRead(info: RequestInfo, query: Query, stored: number): number {
  if (selectedName(info, query) !== '') return 1
  if (info.verb === 'watch' || query.size === 0) return stored
  const given = Number(text(query, 'limit') ?? '')
  const limit = given > 0 && given < stored ? given : stored
  const match = text(query, 'resourceVersionMatch') ?? ''
  const paged = given > 0 && text(query, 'resourceVersion') !== '0'
  const isSnapshot = paged || (text(query, 'continue') ?? '') !== '' || (match !== '' && match !== 'NotOlderThan')
  if (!isSnapshot) return stored
  const selective = (text(query, 'fieldSelector') ?? '') !== '' || (text(query, 'labelSelector') ?? '') !== ''
  return selective ? stored + limit : 2 * limit
}

const nameSelector = /^metadata\.name==?([^,=!]+)$/

/** The object name that the path or the field selector of a list or watch selects; empty for all objects. */
export function selectedName({ name }: Pick<RequestInfo, 'name'>, query: Query): string {
  if (name !== '' || query.size === 0) return name
  return nameSelector.exec(text(query, 'fieldSelector') ?? '')?.[1] ?? ''
}
