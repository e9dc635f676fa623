/** What the suite's tests share. */
import assert from 'node:assert/strict'
import { type FakeClock, fakeClock } from '@krmkit/meta'
import type { Entry, Storage, StorageEvent, Watcher, WriteResult } from '../interfaces.ts'
import type { StorageOptions } from '../options.ts'
import { StorageError, type StorageErrorDetail } from '../storage-error.ts'

/** One store made for one test. */
export interface StoreUnderTest {
  readonly storage: Storage
  /**
   * Closes the store and opens another over the same data, with the same options. Absent when nothing outlives the
   * store.
   */
  readonly reopen?: () => Promise<Storage>
  /** Closes whatever is open and removes the data. */
  dispose(): Promise<void>
}

/** Makes an empty store with these options. */
export type CreateStore = (options: StorageOptions) => Promise<StoreUnderTest>

/** Of a test runner: vitest's, node:test's and others' functions of these names fit. */
export interface SuiteRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => Promise<void>): unknown
}

export interface Bench {
  readonly storage: Storage
  readonly clock: FakeClock
  /** Absent when the backend keeps nothing. */
  readonly reopen: (() => Promise<Storage>) | undefined
}

/** A runner's `it` that hands each test a store of its own. */
export type StoreTest = (name: string, body: (bench: Bench) => Promise<void>, options?: StorageOptions) => void

/** A moment for fake clocks to start at. */
const startMs = Date.UTC(2024, 0, 1)

export function storeTests({ it }: SuiteRunner, createStore: CreateStore): StoreTest {
  return (name, body, options = {}) => {
    it(name, async () => {
      const clock = fakeClock(startMs)
      const made = await createStore({ clock, ...options })
      try {
        await body({ storage: made.storage, clock, reopen: made.reopen })
      } finally {
        await made.dispose()
      }
    })
  }
}

/** The bytes of a text, as an `encode` that ignores the revision. */
export function text(value: string): () => Uint8Array {
  return () => new TextEncoder().encode(value)
}

export function read(entry: Entry | undefined): string | undefined {
  return entry === undefined ? undefined : new TextDecoder().decode(entry.value)
}

/** `key=text@revision` for each entry. */
export function show(entries: readonly Entry[]): string[] {
  return entries.map((entry) => `${entry.key}=${read(entry)}@${entry.revision}`)
}

/** `put /a=text@revision` for each event. */
export function showEvents(events: readonly StorageEvent[]): string[] {
  return events.map(({ type, entry }) => `${type} ${show([entry])[0]}`)
}

export function expectWritten(result: WriteResult): Entry {
  assert.equal(result.outcome, 'written')
  return (result as WriteResult & { outcome: 'written' }).entry
}

export async function put(storage: Storage, key: string, value: string): Promise<Entry> {
  return expectWritten(await storage.put(key, text(value)))
}

export async function remove(storage: Storage, key: string, lastState = 'last'): Promise<Entry> {
  return expectWritten(await storage.delete(key, text(lastState)))
}

/** The detail of the StorageError that `fn` throws or rejects with. */
export async function failureOf(fn: () => unknown): Promise<StorageErrorDetail> {
  try {
    await fn()
  } catch (error) {
    assert.ok(error instanceof StorageError, `a StorageError, not ${String(error)}`)
    return error.detail
  }
  assert.fail('no error was thrown')
}

/** Everything that has happened on earlier turns of the event loop has had its effect. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve))
  })
}

/** Takes events as they come until there are so many. */
export async function takeUntil(watcher: Watcher, count: number): Promise<StorageEvent[]> {
  const events = [...watcher.take()]
  while (events.length < count && watcher.ended === undefined) {
    await new Promise<void>((resolve) => {
      watcher.onReady = resolve
    })
    events.push(...watcher.take())
  }
  return events
}
