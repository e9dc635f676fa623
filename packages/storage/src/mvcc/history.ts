/**
 * The event window: every write since the compacted revision, and the states derived from it.
 *
 * Events are stored in segments. Each segment keeps the snapshot before its first event, so restoring any revision replays or undoes at
 * most half a segment. Revisions grow, but may have gaps, and one revision may have several events: both occur in a store that is shared
 * with other programs.
 *
 *     segments  [base 1: 2 3 4] [base 4: 5 6]      newest 6
 *     state at 3 = state at 4, with 4 undone       state at 5 = state at 4 and event 5
 *     compact(4) [base 4: 5 6]                     compact(5) keeps the segment, but 4 is no longer readable
 */
import type { Entry, Revision, StorageEvent } from '../interfaces.ts'
import { releaseValue, sizeOf, type ValueSource } from './entries.ts'
import { Tree, type TreeSnapshot } from './tree.ts'

export interface HistoryLimits {
  /** How long a revision stays readable after a newer one was written, in milliseconds. */
  readonly historyMs: number
  /** Maximum number of bytes held only by history; above it, the oldest history is dropped first. */
  readonly historyBytes: number
  /** Minimum age of history dropped because of its size, in milliseconds. */
  readonly minHistoryMs: number
}

interface Segment {
  /** Revision of `state`; every event is newer. */
  readonly base: Revision
  readonly state: TreeSnapshot
  readonly events: StorageEvent[]
  readonly startedMs: number
  /** Time of the last event. */
  lastMs: number
  bytes: number
}

const segmentEvents = 2048
const segmentBytes = 1024 * 1024
/** A segment is closed after this fraction of the window, so that history is dropped in small steps. */
const segmentsPerWindow = 60
/** Cost of an event in addition to the bytes it keeps alive. */
const eventOverheadBytes = 256
const maxCachedStates = 16
/**
 * Superseded entries keep their memos and values while they are among this many newest events and bytes, because watchers are about to read
 * them.
 */
const notesKept = 256
const noteBytesKept = 2 * 1024 * 1024

export class History {
  readonly #limits: HistoryLimits
  readonly #below: ValueSource | undefined
  #segments: Segment[] = []
  #compacted: Revision
  #revision: Revision
  #bytes = 0
  /** Number of newest events whose superseded entries keep their memos, and the size of these entries. */
  #noted = 0
  #notedBytes = 0
  /** States restored for readers of older revisions, in LRU order. */
  readonly #states = new Map<Revision, TreeSnapshot>()

  /** @param below source of superseded values; without it they stay in memory */
  constructor(start: Revision, limits: HistoryLimits, below?: ValueSource) {
    this.#compacted = start
    this.#revision = start
    this.#limits = limits
    this.#below = below
  }

  /** Oldest readable revision. */
  get compacted(): Revision {
    return this.#compacted
  }

  /** The newest revision: that of the last event, or a later one after `advance`. */
  get revision(): Revision {
    return this.#revision
  }

  /** Bytes held only by history. */
  get bytes(): number {
    return this.#bytes
  }

  get isEmpty(): boolean {
    return this.#segments.length === 0
  }

  /** A copy of the window for another store; full segments are shared, the growing one is copied. */
  fork(limits: HistoryLimits): History {
    const fork = new History(this.#compacted, limits)
    fork.#segments = this.#segments.map((segment, at) =>
      at < this.#segments.length - 1 ? segment : { ...segment, events: segment.events.slice() },
    )
    fork.#revision = this.#revision
    fork.#bytes = this.#bytes
    fork.#noted = this.#noted
    fork.#notedBytes = this.#notedBytes
    return fork
  }

  /** Appends the next event. `freeze` returns the snapshot before it, and is called only when a new segment starts. */
  append(event: StorageEvent, nowMs: number, freeze: () => TreeSnapshot): void {
    let segment = this.#segments.at(-1)
    if (segment === undefined || this.#isFull(segment, nowMs)) {
      segment = { base: this.#revision, state: freeze(), events: [], startedMs: nowMs, lastMs: nowMs, bytes: 0 }
      this.#segments.push(segment)
    }
    const bytes = costOf(event)
    segment.events.push(event)
    segment.lastMs = nowMs
    segment.bytes += bytes
    this.#bytes += bytes
    this.#revision = event.revision
    this.#noted++
    this.#notedBytes += bytes
    while (this.#noted > notesKept || (this.#notedBytes > noteBytesKept && this.#noted > 1)) this.#releaseOldest()
  }

  /** Releases memo and value of the oldest superseded entry that has them. */
  #releaseOldest(): void {
    const released = this.#eventBefore(--this.#noted)
    if (released === undefined) return
    this.#notedBytes -= costOf(released)
    dropNotes(released)
    if (this.#below !== undefined) releaseValues(released, this.#below)
  }

  /** Advances to a later revision that has no events here. */
  advance(revision: Revision): void {
    if (revision > this.#revision) this.#revision = revision
  }

  /** Drops all events, and continues from a state of a later revision. */
  restart(revision: Revision): void {
    this.#segments = []
    this.#states.clear()
    this.#bytes = 0
    this.#noted = 0
    this.#notedBytes = 0
    this.#compacted = revision
    this.#revision = revision
  }

  /** The first event after a revision that passes the test. */
  find(after: Revision, accepts: (event: StorageEvent) => boolean): StorageEvent | undefined {
    return this.#search(after, undefined, accepts)
  }

  /** The first event after another one that passes the test. */
  findNext(event: StorageEvent, accepts: (event: StorageEvent) => boolean): StorageEvent | undefined {
    return this.#search(event.revision - 1, event, accepts)
  }

  /** The state at a revision from `compacted` to the newest; `newest` returns the newest snapshot. */
  stateAt(revision: Revision, newest: () => TreeSnapshot): TreeSnapshot {
    if (revision === this.#revision) return newest()
    const remembered = this.#states.get(revision)
    const state = remembered ?? this.#replay(revision, newest)
    this.#states.delete(revision)
    this.#states.set(revision, state)
    if (this.#states.size > maxCachedStates) this.#states.delete(this.#states.keys().next().value!)
    return state
  }

  /** The entries whose writes become unreachable when everything before `revision` is dropped. */
  supersededBy(revision: Revision): Entry[] {
    const superseded: Entry[] = []
    this.find(this.#compacted, (event) => {
      if (event.revision > revision) return true
      if (event.previous !== undefined) superseded.push(event.previous)
      if (event.type === 'delete') superseded.push(event.entry)
      return false
    })
    return superseded
  }

  /** Drops history before `revision`. */
  compact(revision: Revision): void {
    this.#compacted = revision
    let gone = 0
    for (const segment of this.#segments) {
      if (lastRevision(segment) > revision) break
      this.#bytes -= segment.bytes
      gone++
    }
    this.#segments = this.#segments.slice(gone)
    const left = this.#segments.reduce((sum, { events }) => sum + events.length, 0)
    if (left < this.#noted) {
      this.#noted = left
      this.#notedBytes = this.#segments.reduce((sum, { bytes }) => sum + bytes, 0)
    }
    for (const at of this.#states.keys()) if (at < revision) this.#states.delete(at)
  }

  /** The revision to compact to, by age and size, if any. */
  revisionToCompact(nowMs: number): Revision | undefined {
    const { historyMs, historyBytes, minHistoryMs } = this.#limits
    let revision: Revision | undefined
    let bytes = this.#bytes
    for (const segment of this.#segments) {
      const ageMs = nowMs - segment.lastMs
      if (ageMs < historyMs && (bytes <= historyBytes || ageMs < minHistoryMs)) break
      bytes -= segment.bytes
      revision = lastRevision(segment)
    }
    return revision
  }

  /** Whether {@link revisionToCompact} may return a revision because of size. Cheap enough to check after every write. */
  get exceedsByteLimit(): boolean {
    return this.#bytes > this.#limits.historyBytes
  }

  /** Clears the memos that readers of older states have set on superseded entries. */
  sweepNotes(): void {
    let kept = this.#noted
    for (let index = this.#segments.length - 1; index >= 0; index--) {
      const { events } = this.#segments[index]!
      const end = Math.max(0, events.length - kept)
      for (let at = 0; at < end; at++) dropNotes(events[at]!)
      kept -= events.length - end
    }
  }

  #isFull(segment: Segment, nowMs: number): boolean {
    return (
      segment.events.length >= segmentEvents ||
      segment.bytes >= segmentBytes ||
      nowMs - segment.startedMs >= this.#limits.historyMs / segmentsPerWindow
    )
  }

  #replay(revision: Revision, newest: () => TreeSnapshot): TreeSnapshot {
    const index = this.#indexOf(revision + 1)
    const segment = this.#segments[index]
    if (segment === undefined) return newest()
    const { state, events } = segment
    const end = firstAfter(segment, revision)
    if (end === 0) return state
    if (end <= events.length - end) {
      const tree = new Tree(state)
      for (let at = 0; at < end; at++) redo(tree, events[at]!)
      return tree.freeze()
    }
    const tree = new Tree(this.#segments[index + 1]?.state ?? newest())
    for (let at = events.length - 1; at >= end; at--) undo(tree, events[at]!)
    return tree.freeze()
  }

  /** @param skipped events up to this one, of the same revision, are not considered */
  #search(
    after: Revision,
    skipped: StorageEvent | undefined,
    accepts: (event: StorageEvent) => boolean,
  ): StorageEvent | undefined {
    let isSkipping = skipped !== undefined
    for (let index = this.#indexOf(after + 1); index < this.#segments.length; index++) {
      const segment = this.#segments[index]!
      const { events } = segment
      for (let at = firstAfter(segment, after); at < events.length; at++) {
        const event = events[at]!
        if (isSkipping) {
          isSkipping = event !== skipped && event.revision === skipped?.revision
          if (event === skipped || isSkipping) continue
        }
        if (accepts(event)) return event
      }
    }
    return undefined
  }

  /** The event that is `count` events before the newest one. */
  #eventBefore(count: number): StorageEvent | undefined {
    let back = count
    for (let index = this.#segments.length - 1; index >= 0; index--) {
      const { events } = this.#segments[index]!
      if (back < events.length) return events[events.length - 1 - back]
      back -= events.length
    }
    return undefined
  }

  /** Index of the first segment with an event of this revision or a later one; the number of segments if there is none. */
  #indexOf(revision: Revision): number {
    let low = 0
    let high = this.#segments.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (lastRevision(this.#segments[middle]!) < revision) low = middle + 1
      else high = middle
    }
    return low
  }
}

function lastRevision({ base, events }: Segment): Revision {
  return events[events.length - 1]?.revision ?? base
}

/** Position of the first event after a revision. */
function firstAfter({ base, events }: Segment, after: Revision): number {
  if (after <= base) return 0
  // Without gaps, the position is the distance from the base.
  const guess = after - base
  if (events[guess - 1]?.revision === after && events[guess]?.revision === after + 1) return guess
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (events[middle]!.revision <= after) low = middle + 1
    else high = middle
  }
  return low
}

function costOf(event: StorageEvent): number {
  const { type, entry, previous } = event
  return (previous === undefined ? 0 : sizeOf(previous)) + (type === 'delete' ? sizeOf(entry) : 0) + eventOverheadBytes
}

function dropNotes(event: StorageEvent): void {
  if (event.previous?.memo !== undefined) event.previous.memo = undefined
  if (event.type === 'delete' && event.entry.memo !== undefined) event.entry.memo = undefined
}

function releaseValues(event: StorageEvent, below: ValueSource): void {
  if (event.previous !== undefined) releaseValue(event.previous, below)
  if (event.type === 'delete') releaseValue(event.entry, below)
}

function redo(tree: Tree, event: StorageEvent): void {
  if (event.type === 'put') tree.set(event.entry)
  else tree.delete(event.key)
}

function undo(tree: Tree, event: StorageEvent): void {
  if (event.previous === undefined) tree.delete(event.key)
  else tree.set(event.previous)
}
