import { describe, expect, it } from 'vitest'
import type { Entry, StorageEvent } from '../interfaces.ts'
import { nextTurn } from '../testing/harness.ts'
import { makeEntry, putEvent } from './entries.ts'
import { type Subscriber, WatchHub } from './watch-hub.ts'

class RecordingSubscriber implements Subscriber {
  readonly prefix: string
  received: string[] = []
  wakes = 0

  constructor(prefix: string) {
    this.prefix = prefix
  }

  push(event: StorageEvent): void {
    this.received.push(event.key)
  }

  wake(): void {
    this.wakes++
  }
}

const event = (key: string) => putEvent(makeEntry(key, new Uint8Array(), { revision: 2, created: 2 }), undefined)

describe('WatchHub', () => {
  it('dispatches an event to the ancestors of its key only', () => {
    const hub = new WatchHub<RecordingSubscriber>()
    const subscribers = ['/', '/a/', '/a/b/', '/a/b/c', '/a/b/c/', '/a/b', '/b/'].map((prefix) => new RecordingSubscriber(prefix))
    for (const subscriber of subscribers) hub.add(subscriber)
    hub.dispatch(event('/a/b/c'))
    expect(subscribers.filter(({ received }) => received.length === 1).map(({ prefix }) => prefix)).toEqual([
      '/',
      '/a/',
      '/a/b/',
      '/a/b/c',
    ])
  })

  it('does not call subscribers whose prefix does not match', () => {
    const hub = new WatchHub<Subscriber>()
    const silent = {
      push: () => {
        throw new Error('was asked')
      },
      wake: () => undefined,
    }
    for (let n = 0; n < 10_000; n++) hub.add({ prefix: `/other-${n}/`, ...silent })
    const subscriber = new RecordingSubscriber('/a/')
    hub.add(subscriber)
    hub.dispatch(event('/a/x'))
    expect(subscriber.received).toEqual(['/a/x'])
  })

  it('removes subscribers, also during an event', () => {
    const hub = new WatchHub<RecordingSubscriber>()
    const [first, second] = [new RecordingSubscriber('/a/'), new RecordingSubscriber('/a/')]
    first.push = () => hub.remove(first)
    hub.add(first)
    hub.add(second)
    hub.dispatch(event('/a/x'))
    hub.remove(second)
    hub.remove(second)
    hub.dispatch(event('/a/y'))
    expect(second.received).toEqual(['/a/x'])
  })

  it('finds subscribers of one value without calling the others', () => {
    const hub = new WatchHub<RecordingSubscriber>()
    let read = 0
    const readValue = ({ value }: Entry) => {
      read++
      return new TextDecoder().decode(value)
    }
    const subscribers = Array.from({ length: 100 }, (_, n) => {
      const subscriber = new RecordingSubscriber('/a/')
      return Object.assign(subscriber, { selection: { index: 'node', value: `n${n}`, readValue } })
    })
    const every = new RecordingSubscriber('/a/')
    for (const subscriber of [...subscribers, every]) hub.add(subscriber)
    const entryOf = (value: string) => makeEntry('/a/x', new TextEncoder().encode(value), { revision: 2, created: 2 })
    hub.dispatch(putEvent(entryOf('n1'), undefined))
    hub.dispatch(putEvent(entryOf('n2'), entryOf('n1')))
    hub.dispatch(putEvent(entryOf('n2'), entryOf('n2')))
    expect(read).toBe(5)
    expect(subscribers.map(({ received }) => received.length).slice(0, 4)).toEqual([0, 2, 2, 0])
    expect(every.received).toHaveLength(3)
    for (const subscriber of subscribers) hub.remove(subscriber)
    hub.dispatch(putEvent(entryOf('n2'), entryOf('n1')))
    expect(read).toBe(5)
  })

  it('calls all subscribers of an index for an unknown value', () => {
    const hub = new WatchHub<RecordingSubscriber>()
    const selection = (value: string) => ({ index: 'node', value, readValue: () => undefined })
    const subscribers = ['n1', 'n2'].map((value) =>
      Object.assign(new RecordingSubscriber('/a/'), { selection: selection(value) }),
    )
    for (const subscriber of subscribers) hub.add(subscriber)
    hub.dispatch(event('/a/x'))
    expect(subscribers.map(({ received }) => received)).toEqual([['/a/x'], ['/a/x']])
  })

  it('wakes all subscribers together on a later turn', async () => {
    const hub = new WatchHub<RecordingSubscriber>()
    const subscribers = [new RecordingSubscriber('/a/'), new RecordingSubscriber('/b/')]
    for (const subscriber of subscribers) hub.wakeLater(subscriber)
    await Promise.resolve()
    expect(subscribers.map(({ wakes }) => wakes)).toEqual([0, 0])
    await nextTurn()
    expect(subscribers.map(({ wakes }) => wakes)).toEqual([1, 1])
  })
})
