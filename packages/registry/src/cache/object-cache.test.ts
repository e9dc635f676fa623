import { deepFreeze } from '@krmkit/base/freeze'
import { createTurns } from '@krmkit/base/work'
import { type Entry, memoryStorage } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { sampleRegistry } from '../testing/sample-registry.ts'
import { encodeStored, ObjectCache } from './object-cache.ts'

async function entries(count: number) {
  const storage = memoryStorage()
  for (let i = 0; i < count; i++) {
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: `o${i}`, namespace: 'ns', labels: { i: String(i) } } }
    await storage.put(`/core/configmaps/ns/o${i}`, () => encodeStored(object), { expect: 0 })
  }
  return (await storage.list({ prefix: '/core/configmaps/' })).entries
}

describe('ObjectCache', () => {
  it('parses once and shares frozen objects', async () => {
    const [entry] = await entries(1)
    const parsed = new ObjectCache()
    const object = parsed.objectOf(entry!)
    expect(parsed.objectOf(entry!)).toBe(object)
    expect(Object.isFrozen(object.metadata.labels)).toBe(true)
    expect(parsed.entryOf(entry!).labels).toBe(object.metadata.labels)
  })

  it('bounds the number of parsed objects, and parses evicted ones again; labels are kept', async () => {
    const all = await entries(4)
    const parsed = new ObjectCache({ capacity: 2 })
    const first = parsed.objectOf(all[0]!)
    for (const entry of all.slice(1)) parsed.objectOf(entry)
    expect(parsed.entryOf(all[0]!).object).toBeUndefined()
    expect(parsed.entryOf(all[3]!).object).toBeDefined()
    expect(parsed.entryOf(all[0]!).labels).toEqual({ i: '0' })
    expect(parsed.objectOf(all[0]!)).toEqual(first)
    expect(parsed.objectOf(all[0]!)).not.toBe(first)
  })

  it('bounds the bytes of parsed objects', async () => {
    const all = await entries(6)
    const { byteLength } = all[0]!.value
    const parsed = new ObjectCache({ maxBytes: 3 * byteLength })
    for (const entry of all) parsed.objectOf(entry)
    expect(all.map((entry) => parsed.entryOf(entry).object !== undefined)).toEqual([false, false, false, true, true, true])
    for (const entry of [...all, ...[...all].reverse()]) parsed.objectOf(entry)
    expect(all.filter((entry) => parsed.entryOf(entry).object !== undefined)).toHaveLength(3)
    const one = new ObjectCache({ maxBytes: 1 })
    const others = await entries(3)
    for (const entry of others) one.objectOf(entry)
    expect(others.filter((entry) => one.entryOf(entry).object !== undefined)).toHaveLength(1)
  })

  it('parses a large entry in slices, once for all concurrent readers', async () => {
    const storage = memoryStorage()
    const data = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`k${i}`, 'v']))
    const managedFields = [{ manager: 'm', fieldsV1: { 'f:data': { 'f:a': {} } } }]
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'large', managedFields }, data }
    await storage.put('/core/configmaps/ns/large', () => encodeStored(object), { expect: 0 })
    const [entry] = (await storage.list({ prefix: '/core/configmaps/' })).entries
    const parsed = new ObjectCache({ turns: createTurns() })
    const first = parsed.parsed(entry!)
    expect(first).toBeInstanceOf(Promise)
    expect(parsed.parsed(entry!)).toBe(first)
    expect(await first).toEqual(object)
    expect(Object.isFrozen((await first)['data'])).toBe(true)
    expect(parsed.parsed(entry!)).toBe(await first)
    expect(parsed.objectOf(entry!)).toBe(await first)
    const [small] = await entries(1)
    expect(parsed.parsed(small!)).not.toBeInstanceOf(Promise)
  })

  it('evicts objects that are not needed again before those that are', async () => {
    const all = await entries(300)
    const parsed = new ObjectCache({ capacity: 40 })
    const isParsed = (entry: Entry) => parsed.entryOf(entry).object !== undefined
    const others = all.slice(1)
    const parseOthers = (count: number) => others.splice(0, count).forEach((entry) => void parsed.objectOf(entry))
    const reused = all[0]!
    parsed.objectOf(reused)
    parseOthers(30)
    expect(isParsed(reused)).toBe(false)
    const again = parsed.objectOf(reused)
    parseOthers(100)
    expect(parsed.objectOf(reused)).toBe(again)
    const late = all[1]!
    parsed.objectOf(late)
    parseOthers(30)
    expect(isParsed(late)).toBe(false)
  })

  it('keeps the replacement of a reused object', async () => {
    const all = await entries(100)
    const parsed = new ObjectCache({ capacity: 40 })
    const [before, unrelated] = all as [Entry, Entry]
    for (const entry of [before, ...all.slice(2, 32), before]) parsed.objectOf(entry)
    const written = [before, unrelated].map((entry) => {
      const memo = parsed.newEntry(parsed.objectOf(entry))
      memo.object = parsed.objectOf(entry)
      parsed.keep(memo, 100, entry)
      return memo
    })
    for (const entry of all.slice(32, 62)) parsed.objectOf(entry)
    expect(written.map(({ object }) => object !== undefined)).toEqual([true, false])
  })

  it('computes selectable fields once per definition', async () => {
    const [entry] = await entries(1)
    const parsed = new ObjectCache()
    const { definition } = sampleRegistry()
    const fields = parsed.fieldsOf(entry!, definition('configmaps'))
    expect(fields).toEqual({ 'metadata.name': 'o0', 'metadata.namespace': 'ns' })
    expect(parsed.fieldsOf(entry!, definition('configmaps'))).toBe(fields)
    expect(parsed.fieldsOf(entry!, definition('namespaces'))).not.toBe(fields)
  })

  it('treats names such as __proto__ as ordinary members', async () => {
    const storage = memoryStorage()
    const text = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"__proto__":"x","constructor":"y"}}'
    await storage.put('/core/configmaps/ns/a', () => new TextEncoder().encode(text), { expect: 0 })
    const { data } = new ObjectCache().objectOf(storage.peek('/core/configmaps/ns/a')!) as unknown as { data: object }
    expect(Object.entries(data)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })
})

describe('deepFreeze', () => {
  it('freezes every level and stops at frozen values', () => {
    const inner = Object.freeze({ deep: { open: 1 } })
    const value = deepFreeze({ list: [{ a: 1 }], inner })
    expect(Object.isFrozen(value.list[0])).toBe(true)
    expect(Object.isFrozen(inner.deep)).toBe(false)
  })
})
