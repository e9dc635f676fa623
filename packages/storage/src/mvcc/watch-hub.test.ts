import { describe, expect, it } from 'vitest'
import type { StorageEvent } from '../interfaces.ts'
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
