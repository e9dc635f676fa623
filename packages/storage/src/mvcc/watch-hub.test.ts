import { describe, expect, it } from 'vitest'
import type { StorageEvent } from '../interfaces.ts'
import { nextTurn } from '../testing/harness.ts'
import { makeEntry, putEvent } from './entries.ts'
import { type Subscriber, WatchHub } from './watch-hub.ts'

class Ear implements Subscriber {
  readonly prefix: string
  heard: string[] = []
  wakes = 0

  constructor(prefix: string) {
    this.prefix = prefix
  }

  push(event: StorageEvent): void {
    this.heard.push(event.key)
  }

  wake(): void {
    this.wakes++
  }
}

const event = (key: string) => putEvent(makeEntry(key, new Uint8Array(), { revision: 2, created: 2 }), undefined)

describe('WatchHub', () => {
  it('dispatches an event to the ancestors of its key only', () => {
    const hub = new WatchHub<Ear>()
    const ears = ['/', '/a/', '/a/b/', '/a/b/c', '/a/b/c/', '/a/b', '/b/'].map((prefix) => new Ear(prefix))
    for (const ear of ears) hub.add(ear)
    hub.dispatch(event('/a/b/c'))
    expect(ears.filter(({ heard }) => heard.length === 1).map(({ prefix }) => prefix)).toEqual(['/', '/a/', '/a/b/', '/a/b/c'])
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
    const ear = new Ear('/a/')
    hub.add(ear)
    hub.dispatch(event('/a/x'))
    expect(ear.heard).toEqual(['/a/x'])
  })

  it('removes subscribers, also during an event', () => {
    const hub = new WatchHub<Ear>()
    const [first, second] = [new Ear('/a/'), new Ear('/a/')]
    first.push = () => hub.remove(first)
    hub.add(first)
    hub.add(second)
    hub.dispatch(event('/a/x'))
    hub.remove(second)
    hub.remove(second)
    hub.dispatch(event('/a/y'))
    expect(second.heard).toEqual(['/a/x'])
  })

  it('wakes all subscribers together on a later turn', async () => {
    const hub = new WatchHub<Ear>()
    const ears = [new Ear('/a/'), new Ear('/b/')]
    for (const ear of ears) hub.wakeLater(ear)
    await Promise.resolve()
    expect(ears.map(({ wakes }) => wakes)).toEqual([0, 0])
    await nextTurn()
    expect(ears.map(({ wakes }) => wakes)).toEqual([1, 1])
  })
})
