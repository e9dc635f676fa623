import { fakeClock } from '@krmkit/meta'
import { memoryStorage, type Storage } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { expireEvents } from './event-expiry.ts'

const minute = 60_000
const event = (name: string) => (revision: number) =>
  new TextEncoder().encode(
    `{"apiVersion":"v1","kind":"Event","metadata":{"name":"${name}","resourceVersion":"${revision}"},"count":1}`,
  )

function bench(storage: Storage = memoryStorage()) {
  const clock = fakeClock()
  const errors: string[] = []
  const log = { info: () => undefined, error: (text: string) => void errors.push(text) }
  const expiry = expireEvents(storage, { lifetimeMs: 60 * minute, clock, log })
  const pass = async (minutes: number) => {
    for (let n = 0; n < minutes; n++) {
      clock.advance(minute)
      for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { storage, clock, errors, expiry, pass }
}

const keysOf = async (storage: Storage) => (await storage.list({ prefix: '/' })).entries.map(({ key }) => key)

describe('events', () => {
  it('are removed after their lifetime, counted from their last write', async () => {
    const { storage, pass, expiry, clock } = bench()
    await pass(1)
    for (const name of ['one', 'two']) await storage.put(`/core/events/shop/${name}`, event(name))
    await storage.put('/core/configmaps/shop/web', event('web'))
    await pass(30)
    await storage.put('/core/events/shop/two', event('two'))
    const watcher = storage.watch({ prefix: '/core/events/', from: storage.revision })
    await pass(29)
    expect(await keysOf(storage)).toContain('/core/events/shop/one')
    await pass(2)
    expect(await keysOf(storage)).toEqual(['/core/configmaps/shop/web', '/core/events/shop/two'])
    const [removal] = watcher.take()
    expect([removal?.type, JSON.parse(new TextDecoder().decode(removal?.entry.value)).metadata]).toEqual([
      'delete',
      { name: 'one', resourceVersion: String(removal?.revision) },
    ])
    await pass(30)
    expect(await keysOf(storage)).toEqual(['/core/configmaps/shop/web'])
    expiry[Symbol.dispose]()
    expect(clock.pending).toBe(0)
  })

  it('are removed in pages, and later when the store cannot write', async () => {
    const storage = memoryStorage()
    let fails = true
    const guarded = new Proxy(storage, {
      get(target, name) {
        if (name === 'delete' && fails) return () => Promise.reject(new Error('disk full'))
        const member: unknown = Reflect.get(target, name, target)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    for (let n = 0; n < 1200; n++) await storage.put(`/core/events/shop/${n}`, event(String(n)))
    const { pass, errors, expiry } = bench(guarded)
    await pass(60)
    expect([storage.count('/core/events/'), errors]).toEqual([1200, ['events past their lifetime could not be removed']])
    fails = false
    await pass(1)
    expect(storage.count('/core/events/')).toBe(0)
    expiry[Symbol.dispose]()
  })
})
