/**
 * Random histories, compared with a model. The checked guarantees are:
 *
 * - Ordered: a watcher receives all events of its prefix in ascending revision order.
 * - Unique: no revision is assigned twice, no event is delivered twice.
 * - Resumable: a watch that starts after the last event of another continues where that one stopped.
 * - Bookmarkable: so does a watch that starts at the other's `revision`.
 * - Snapshot: a list at a revision is the state of that revision, paged or not.
 * - Durable: no acknowledged write is missing after a restart.
 */
import assert from 'node:assert/strict'
import { RandomChoices } from '@krmkit/base/random-choices'
import type { Revision, Storage, Watcher } from '../interfaces.ts'
import {
  expectWritten,
  failureOf,
  formatEntries,
  formatEvents,
  nextTurn,
  read,
  type StoreTest,
  type StoreTestContext,
  text,
} from './harness.ts'
import { Model } from './model.ts'

const prefixes = ['/', '/a/', '/a/b/', '/c/', '/none/']
const keys = ['/a/1', '/a/2', '/a/b/1', '/a/b/2', '/a/b/c/1', '/c/1', '/c/2', '/a-/1', '/a0']
const steps = 300

export function randomHistories(test: StoreTest, seeds: readonly number[]): void {
  for (const seed of seeds) {
    test(`keeps all guarantees in a random history (Ordered, Unique, Resumable, Bookmarkable, Snapshot, Durable; seed ${seed})`, async (bench) => {
      const history = new RandomHistory(bench, new RandomChoices(seed))
      try {
        for (let step = 0; step < steps; step++) await history.step()
        await history.finish()
      } catch (error) {
        throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
      }
    })
  }
}

/** A reader that resumes with a new watcher. */
interface Observer {
  readonly prefix: string
  from: Revision
  watcher: Watcher
  received: string[]
  last: Revision
}

class RandomHistory {
  readonly #choices: RandomChoices
  readonly #clock: StoreTestContext['clock']
  readonly #reopen: StoreTestContext['reopen']
  readonly #lastState: StoreTestContext['lastState']
  readonly #model: Model
  readonly #observers: Observer[] = []
  #storage: Storage
  #count = 0

  constructor(bench: StoreTestContext, choices: RandomChoices) {
    this.#storage = bench.storage
    this.#clock = bench.clock
    this.#reopen = bench.reopen
    this.#choices = choices
    this.#lastState = bench.lastState
    this.#model = new Model(bench.storage.revision)
  }

  async step(): Promise<void> {
    const roll = this.#choices.below(100)
    if (roll < 35) await this.#write()
    else if (roll < 45) await this.#burst()
    else if (roll < 55) await this.#checkSnapshot()
    else if (roll < 62) this.#startObserver()
    else if (roll < 82) await this.#takeEvents()
    else if (roll < 92) this.#resumeObserver()
    else if (roll < 96) this.#clock.advance(this.#choices.below(90_000))
    else if (roll < 98) await this.#storage.compact(this.#someRevision())
    else if (this.#choices.chance(50)) await this.#restart()
    assert.equal(this.#storage.revision, this.#model.revision, 'Unique: the newest revision')
  }

  async finish(): Promise<void> {
    await nextTurn()
    for (const observer of this.#observers) {
      this.#receive(observer, observer.watcher.take())
      if (observer.watcher.ended === undefined) {
        assert.deepEqual(
          observer.received,
          this.#model.events(observer.from, observer.prefix),
          `Ordered: all of ${observer.prefix}`,
        )
      }
      observer.watcher.close()
    }
    await this.#restart()
  }

  async #write(): Promise<void> {
    const key = this.#choices.pick(keys)
    const next = `v${++this.#count}`
    const current = this.#storage.peek(key)
    const type = this.#choices.chance(25) ? 'delete' : 'put'
    const value = type === 'put' ? next : this.#lastState(next, read(current) ?? '')
    const expect = this.#choices.pick([undefined, undefined, current?.revision ?? 0, 0, this.#someRevision()])
    const options = expect === undefined ? {} : { expect }
    const result = await this.#storage[type](key, text(value), options)
    const fits = (type === 'put' || current !== undefined) && (expect === undefined || expect === (current?.revision ?? 0))
    assert.equal(result.outcome, fits ? 'written' : 'conflict', `${type} ${key} expecting ${expect}`)
    if (result.outcome === 'conflict') assert.equal(result.current, current)
    else this.#model.add({ type, key, value, revision: result.entry.revision })
  }

  /** Concurrent writes. */
  async #burst(): Promise<void> {
    const values = Array.from({ length: 1 + this.#choices.below(20) }, () => ({
      key: this.#choices.pick(keys),
      value: `v${++this.#count}`,
    }))
    const results = await Promise.all(values.map(({ key, value }) => this.#storage.put(key, text(value))))
    const writes = results.map((result, at) => ({ ...values[at]!, revision: expectWritten(result).revision }))
    // Some stores do not order writes to different keys by the order of calls.
    for (const write of writes.sort((a, b) => a.revision - b.revision)) this.#model.add({ type: 'put', ...write })
  }

  async #checkSnapshot(): Promise<void> {
    const prefix = this.#choices.pick(prefixes)
    const at = this.#someRevision()
    if (at < this.#storage.compacted) {
      assert.equal((await failureOf(() => this.#storage.list({ prefix, at }))).code, 'Compacted')
      return
    }
    const expected = this.#model.stateAt(at, prefix)
    const whole = await this.#storage.list({ prefix, at })
    assert.deepEqual(
      formatEntries(whole.entries),
      expected.map(({ shown }) => shown),
      `Snapshot: ${prefix} at ${at}`,
    )
    const limit = 1 + this.#choices.below(4)
    for (let from = 0; from < expected.length; from += limit) {
      const after = from === 0 ? {} : { after: expected[from - 1]!.key }
      const page = await this.#storage.list({ prefix, at, limit, ...after })
      assert.deepEqual(page.entries, whole.entries.slice(from, from + limit), `Snapshot: a page of ${prefix} at ${at}`)
      assert.equal(page.remaining, Math.max(0, expected.length - from - limit), 'Snapshot: remaining')
    }
    const key = this.#choices.pick(keys)
    const entry = await this.#storage.get(key, { at })
    assert.equal(
      entry?.revision,
      this.#model.stateAt(at, key).find((write) => write.key === key)?.revision,
      `Snapshot: ${key} at ${at}`,
    )
    assert.equal(this.#storage.count(prefix), this.#model.stateAt(this.#model.revision, prefix).length)
  }

  #startObserver(): void {
    const from = Math.max(this.#storage.compacted, this.#someRevision())
    const prefix = this.#choices.pick(prefixes)
    this.#observers.push({ prefix, from, last: from, received: [], watcher: this.#storage.watch({ prefix, from }) })
  }

  async #takeEvents(): Promise<void> {
    if (this.#observers.length === 0) return
    const observer = this.#choices.pick(this.#observers)
    if (this.#choices.chance(50)) await nextTurn()
    this.#receive(observer, observer.watcher.take(...(this.#choices.chance(50) ? [1 + this.#choices.below(5)] : [])))
  }

  #receive(observer: Observer, events: ReturnType<Watcher['take']>): void {
    for (const { revision } of events) {
      assert.ok(revision > observer.last, `Ordered, Unique: ${revision} was received after ${observer.last}`)
      observer.last = revision
    }
    observer.received.push(...formatEvents(events))
    const { prefix, from, watcher } = observer
    assert.deepEqual(
      observer.received,
      this.#model.events(from, prefix, observer.last),
      `Ordered: what ${prefix} received after ${from}`,
    )
    const through = this.#model.events(from, prefix, watcher.revision)
    assert.deepEqual(observer.received, through, `Bookmarkable: revision ${watcher.revision} covers only what was taken`)
  }

  /** Closes a watcher and resumes with another. */
  #resumeObserver(): void {
    if (this.#observers.length === 0) return
    const observer = this.#choices.pick(this.#observers)
    const from = this.#choices.chance(50) ? observer.last : observer.watcher.revision
    observer.watcher.close()
    this.#watchFrom(observer, from)
  }

  #watchFrom(observer: Observer, from: Revision): void {
    const start = Math.max(from, this.#storage.compacted)
    if (start !== from) {
      // The revision is compacted: start over, as a client would with a new list.
      observer.from = start
      observer.last = start
      observer.received = []
    }
    observer.watcher = this.#storage.watch({ prefix: observer.prefix, from: start })
  }

  async #restart(): Promise<void> {
    if (this.#reopen === undefined) return
    const { compacted } = this.#storage
    const before = formatEntries((await this.#storage.list({ prefix: '/' })).entries)
    this.#storage = await this.#reopen()
    const after = await this.#storage.list({ prefix: '/' })
    assert.deepEqual([formatEntries(after.entries), after.revision], [before, this.#model.revision], 'Durable: the newest state')
    assert.ok(this.#storage.compacted <= compacted, 'Durable: the window')
    const at = this.#someRevision()
    if (at >= this.#storage.compacted) {
      const old = await this.#storage.list({ prefix: '/', at })
      const expected = this.#model.stateAt(at, '/').map(({ shown }) => shown)
      assert.deepEqual(formatEntries(old.entries), expected, `Durable: the state at ${at}`)
    }
    for (const observer of this.#observers) this.#watchFrom(observer, observer.last)
  }

  /** A revision of the model, usually a recent one. */
  #someRevision(): Revision {
    const span = this.#choices.chance(70) ? 30 : this.#model.revision
    return Math.max(this.#model.start, this.#model.revision - this.#choices.below(span))
  }
}
