import { RandomChoices } from '@krmkit/base/random-choices'
import { fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { Entry, ListSelection, StorageListOptions, WatchSelection } from '../interfaces.ts'
import { resolveOptions } from '../options.ts'
import { MvccStorage } from './mvcc-storage.ts'

const decoder = new TextDecoder()
const textOf = ({ value }: Entry) => decoder.decode(value)

/** Counts the entries whose value is read. */
function selecting(value: string, index = 'text') {
  const reads = { count: 0 }
  const selection: WatchSelection = {
    index,
    value,
    readValue(entry) {
      reads.count++
      const text = textOf(entry)
      return text === 'unreadable' ? undefined : text
    },
  }
  const list: ListSelection = { collection: '/a/', selections: [selection] }
  return { list, reads }
}

const clock = fakeClock()
const open = () => MvccStorage.empty(resolveOptions({ clock, historyMs: 60_000 }))
const put = (storage: MvccStorage, key: string, text: string) => storage.put(key, () => new TextEncoder().encode(text))
const keyOf = (i: number) => `/a/${i % 3 === 0 ? 'x' : 'y'}/${String(i).padStart(4, '0')}`
const turns = async (count: number) => {
  for (let i = 0; i < count; i++) await new Promise(setImmediate)
}

async function filled(): Promise<MvccStorage> {
  const storage = open()
  for (let i = 0; i < 2000; i++) await put(storage, keyOf(i), `v${i % 100}`)
  return storage
}

/** Lists with the selection twice and waits until its index is ready. */
async function withIndex(storage: MvccStorage, selection: ListSelection): Promise<void> {
  await storage.list({ prefix: '/a/', selection })
  expect((await storage.list({ prefix: '/a/', selection })).entries).toHaveLength(2000)
  await expect.poll(async () => (await storage.list({ prefix: '/a/', selection })).entries.length).toBeLessThan(2000)
}

describe('lists of one value', () => {
  it('read only the selected entries, once the same selection was requested before', async () => {
    const storage = await filled()
    const { list, reads } = selecting('v7')
    await withIndex(storage, list)
    const before = reads.count
    const { entries, revision, remaining } = await storage.list({ prefix: '/a/', selection: list })
    expect(entries.map(textOf)).toEqual(new Array(20).fill('v7'))
    expect([revision, remaining, reads.count]).toEqual([storage.revision, 0, before])
    expect(entries[0]).toBe(storage.peek(entries[0]?.key ?? ''))
    const part = await storage.list({ prefix: '/a/x/', selection: list })
    expect(part.entries.every(({ key }) => key.startsWith('/a/x/'))).toBe(true)
    expect(part.entries.length).toBeLessThan(20)
    const none = selecting('absent').list
    expect((await storage.list({ prefix: '/a/', selection: none })).entries).toEqual([])
  })

  it('are paged, in key order', async () => {
    const storage = await filled()
    const selection = selecting('v7').list
    await withIndex(storage, selection)
    const all = (await storage.list({ prefix: '/a/', selection })).entries
    const first = await storage.list({ prefix: '/a/', selection, limit: 8 })
    expect([first.entries, first.remaining]).toEqual([all.slice(0, 8), 12])
    const after = first.entries.at(-1)?.key ?? ''
    const rest = await storage.list({ prefix: '/a/', selection, after })
    expect([rest.entries, rest.remaining]).toEqual([all.slice(8), 0])
  })

  it('read everything at a past revision, where they have no index', async () => {
    const storage = await filled()
    const selection = selecting('v7').list
    await withIndex(storage, selection)
    const at = storage.revision
    await put(storage, keyOf(7), 'other')
    expect((await storage.list({ prefix: '/a/', selection, at })).entries).toHaveLength(2000)
    expect((await storage.list({ prefix: '/a/', selection })).entries).toHaveLength(19)
  })

  it('read everything while the value of an entry is unknown', async () => {
    const storage = await filled()
    const selection = selecting('v7').list
    await withIndex(storage, selection)
    await put(storage, '/a/z', 'unreadable')
    expect((await storage.list({ prefix: '/a/', selection })).entries).toHaveLength(2001)
    await put(storage, '/a/z', 'v7')
    expect((await storage.list({ prefix: '/a/', selection })).entries).toHaveLength(21)
  })

  it('use the most selective index, and request another when it is not selective enough', async () => {
    const storage = await filled()
    const coarse: WatchSelection = { index: 'all', value: 'same', readValue: () => 'same' }
    const fine = selecting('v7').list.selections[0] as WatchSelection
    const selection = { collection: '/a/', selections: [coarse, fine] }
    for (let i = 0; i < 4; i++) {
      expect((await storage.list({ prefix: '/a/', selection })).entries).toHaveLength(2000)
      await turns(100)
    }
    expect((await storage.list({ prefix: '/a/', selection })).entries).toHaveLength(20)
  })

  it('drop an index that was not used for ten minutes, or that newer indexes displace', async () => {
    const storage = await filled()
    const selection = selecting('v7').list
    await withIndex(storage, selection)
    for (let index = 0; index < 16; index++) {
      await clock.advance(1)
      await withIndex(storage, selecting('v7', `other ${index}`).list)
    }
    expect((await storage.list({ prefix: '/a/', selection })).entries).toHaveLength(2000)
    await withIndex(storage, selection)
    await clock.advance(10 * 60_000)
    await put(storage, '/b/x', '1')
    await clock.advance(11 * 60_000)
    expect((await storage.list({ prefix: '/a/', selection })).entries).toHaveLength(2000)
  })

  for (const seed of [1, 2, 3, 4]) {
    it(`find what a full read finds, through random writes and while the index is built (seed ${seed})`, async () => {
      const random = new RandomChoices(seed)
      const storage = await filled()
      const from = (selected: StorageListOptions) => storage.list(selected).then(({ entries }) => entries)
      for (let step = 0; step < 600; step++) {
        const key = keyOf(random.below(2200))
        const text = `v${random.below(100)}`
        if (random.below(4) > 0) await put(storage, key, random.below(100) === 0 ? 'unreadable' : text)
        else await storage.delete(key, () => new TextEncoder().encode('gone'))
        if (step % 5 === 0) {
          const prefix = random.pick(['/a/', '/a/x/'])
          const found = await from({ prefix, selection: selecting(text).list })
          const expected = (await from({ prefix })).filter((entry) => textOf(entry) === text)
          expect(found.filter((entry) => textOf(entry) === text)).toEqual(expected)
        }
        if (random.below(20) === 0) await turns(1)
      }
    })
  }
})
