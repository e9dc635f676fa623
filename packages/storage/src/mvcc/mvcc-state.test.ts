import { describe, expect, it } from 'vitest'
import type { Entry, StorageEvent } from '../interfaces.ts'
import { resolveOptions } from '../options.ts'
import { deleteEvent, makeEntry, putEvent } from './entries.ts'
import { MvccState } from './mvcc-state.ts'

const entry = (key: string, revision: number, created = revision): Entry =>
  makeEntry(key, new TextEncoder().encode(`${key}@${revision}`), { revision, created })
const open = (entries: readonly Entry[] = [], compacted = 1) =>
  MvccState.open(resolveOptions({}), { compacted, entries, events: [] })
const shown = (events: readonly StorageEvent[]) => events.map(({ type, key, revision }) => `${type} ${key}@${revision}`)

describe('a state whose revisions come from a remote store', () => {
  it('has gaps between revisions, and reads each state between them', () => {
    const state = open()
    const first = entry('/a/x', 5)
    state.publish(putEvent(first, undefined))
    state.advance(8)
    state.publish(putEvent(entry('/a/x', 20, 5), first))
    expect(state.revision).toBe(20)
    for (const at of [5, 7, 8, 12, 19]) expect(state.get('/a/x', at)?.revision, `at ${at}`).toBe(5)
    for (const at of [1, 4]) expect(state.get('/a/x', at), `at ${at}`).toBeUndefined()
    expect(state.get('/a/x', 20)?.revision).toBe(20)
    const watcher = state.watch({ prefix: '/a/', from: 10 })
    expect(shown(watcher.take())).toEqual(['put /a/x@20'])
  })

  it('delivers all events of one revision, even one by one and to late watchers', () => {
    const [x, y] = [entry('/a/x', 2), entry('/a/y', 3)]
    const state = open()
    state.publish(putEvent(x, undefined))
    state.publish(putEvent(y, undefined))
    const live = state.watch({ prefix: '/a/', from: 3 })
    state.publish(deleteEvent(entry('/a/x', 4, 2), x))
    state.publish(deleteEvent(entry('/a/y', 4, 3), y))
    const late = state.watch({ prefix: '/a/', from: 3 })
    expect(shown(live.take())).toEqual(['delete /a/x@4', 'delete /a/y@4'])
    expect([...shown(late.take(1)), ...shown(late.take(1)), ...shown(late.take(1))]).toEqual(['delete /a/x@4', 'delete /a/y@4'])
    expect(state.list({ prefix: '/a/', at: 3 }).entries).toEqual([x, y])
    expect(state.list({ prefix: '/a/', at: 4 }).entries).toEqual([])
  })

  it('resolves waiters at a revision without events', async () => {
    const state = open()
    const waiting = state.waitFor(7, new AbortController().signal)
    state.advance(9)
    expect(await waiting).toBe(true)
    expect(state.watch({ prefix: '/a/', from: 3 }).revision).toBe(9)
  })

  it('cuts off only watchers of changed prefixes when it is replaced by a later one', () => {
    const [same, old, gone] = [entry('/a/x', 2), entry('/b/x', 3), entry('/c/x', 4)]
    const state = open([same, old, gone], 4)
    const watchers = ['/a/', '/b/', '/c/', '/d/', '/a/x', '/'].map((prefix) => state.watch({ prefix, from: 4 }))
    state.replace([entry('/a/x', 2), entry('/b/x', 30, 3)], 40)
    expect(watchers.map(({ ended }) => ended)).toEqual([undefined, 'overflow', 'overflow', undefined, undefined, 'overflow'])
    expect([state.revision, state.compacted]).toEqual([40, 40])
    expect(state.peek('/a/x')).toBe(same)
    expect(state.peek('/b/x')?.revision).toBe(30)
    expect(state.peek('/c/x')).toBeUndefined()
    state.publish(putEvent(entry('/a/x', 41, 2), same))
    expect(shown(watchers[0]!.take())).toEqual(['put /a/x@41'])
    expect(() => state.watch({ prefix: '/a/', from: 39 })).toThrow(/compacted/)
  })
})
