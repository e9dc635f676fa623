/** Helpers of the storage suite. */
import assert from 'node:assert/strict'
import { type FakeClock, fakeClock } from '@krmkit/meta'
import type { Entry, Storage, StorageEvent, Watcher, WriteResult } from '../interfaces.ts'
import type { StorageOptions } from '../options.ts'
import { StorageError, type StorageErrorDetail } from '../storage-error.ts'

/** A store created for one test. */
export interface StoreUnderTest {
  readonly storage: Storage
  /** Closes the store and reopens the same data with the same options. Absent for stores that do not persist. */
  readonly reopen?: () => Promise<Storage>
  /** Closes the store and removes its data. */
  dispose(): Promise<void>
}

/** Creates an empty store with these options. */
export type CreateStore = (options: StorageOptions) => Promise<StoreUnderTest>

/** The functions of a test runner, such as vitest or node:test. */
export interface SuiteRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => Promise<void>): unknown
}

export interface StoreTestContext {
  readonly storage: Storage
  readonly clock: FakeClock
  /** Absent when the backend does not persist. */
  readonly reopen: (() => Promise<Storage>) | undefined
  /** The expected text of the last state of a deletion: `text`, or `before` when the store does not keep the last state. */
  lastState(text: string, before: string): string
}

/** Declares a test that runs on a fresh store. */
export type StoreTest = (name: string, body: (bench: StoreTestContext) => Promise<void>, options?: StorageOptions) => void

/** Start time of fake clocks. */
const startMs = Date.UTC(2024, 0, 1)

export interface StoreTestOptions {
  /** Titles of tests that do not apply to the store, with reasons; they are reported as passed, with the reason. */
  readonly skips?: Readonly<Record<string, string>> | undefined
  /** Whether the store keeps the encoded last state of a deleted key. */
  readonly keepsLastState: boolean
}

export function storeTests(
  { it }: SuiteRunner,
  createStore: CreateStore,
  { skips = {}, keepsLastState }: StoreTestOptions,
): StoreTest {
  const lastState = (text: string, before: string) => (keepsLastState ? text : before)
  return (name, body, options = {}) => {
    const reason = skips[name]
    if (reason !== undefined) {
      it(`${name} (does not apply: ${reason})`, async () => undefined)
      return
    }
    it(name, async () => {
      const clock = fakeClock(startMs)
      const made = await createStore({ clock, ...options })
      try {
        await body({ storage: made.storage, clock, reopen: made.reopen, lastState })
      } finally {
        await made.dispose()
      }
    })
  }
}

/** An `encode` that returns the UTF-8 bytes of a text. */
export function text(value: string): () => Uint8Array {
  return () => new TextEncoder().encode(value)
}

export function read(entry: Entry | undefined): string | undefined {
  return entry === undefined ? undefined : new TextDecoder().decode(entry.value)
}

/** Formats each entry as `key=text@revision`. */
export function formatEntries(entries: readonly Entry[]): string[] {
  return entries.map((entry) => `${entry.key}=${read(entry)}@${entry.revision}`)
}

/** Formats each event as `put /a=text@revision`. */
export function formatEvents(events: readonly StorageEvent[]): string[] {
  return events.map(({ type, entry }) => `${type} ${formatEntries([entry])[0]}`)
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

/** Resolves after all effects of earlier turns of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve))
  })
}

/** Takes events until there are `count`. */
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
