import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createTurns, runAtOnce } from '@krmkit/base/work'
import type { BodyPiece } from '@krmkit/protocol'
import { type Entry, memoryStorage } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import type { VersionCodec } from './codec.ts'
import { ListChunkCache } from './list-chunks.ts'

const head = new TextEncoder().encode('{"kind":"L","items":[')
const end = new TextEncoder().encode(']}\n')
/** Documents open with `{"kind":"T",`. */
const view = { headLength: 12, ready: () => undefined, bytes: (entry: Entry) => entry.value } as unknown as VersionCodec
const turns = createTurns()

async function filled(count: number) {
  const storage = memoryStorage()
  const put = (i: number, value: unknown) =>
    storage.put(`/t/${String(i).padStart(6, '0')}`, () => Buffer.from(`{"kind":"T",${JSON.stringify({ value }).slice(1)}\n`))
  for (let i = 0; i < count; i++) await put(i, i)
  return {
    put,
    entries: async () => (await storage.list({ prefix: '/t/' })).entries,
    compact: () => storage.compact(storage.revision),
  }
}

function piecesOf(runs: ListChunkCache, entries: readonly Entry[]): { text: string; pieces: BodyPiece[]; length: number } {
  const body = runAtOnce(runs.steps(view, entries, { head, end, turns }))
  if (body.kind !== 'list') throw new Error('not a list')
  const text = Buffer.concat(body.parts.map((part) => (part instanceof Uint8Array ? part : part.bytes()))).toString()
  return { text, length: body.length, pieces: body.parts.filter((part): part is BodyPiece => !(part instanceof Uint8Array)) }
}

const valuesOf = (text: string) => (JSON.parse(text) as { items: { value: unknown }[] }).items.map(({ value }) => value)

describe('chunks of a list', () => {
  it('add up to the list and its length', async () => {
    const { entries } = await filled(1000)
    const { text, length } = piecesOf(new ListChunkCache(), await entries())
    expect(valuesOf(text)).toEqual(Array.from({ length: 1000 }, (_, i) => i))
    expect(length).toBe(text.length)
  })

  it('form one document with no item and with one', async () => {
    const runs = new ListChunkCache()
    expect(runAtOnce(runs.steps(view, [], { head, end, turns }))).toEqual({ kind: 'bytes', bytes: Buffer.concat([head, end]) })
    const { entries } = await filled(1)
    expect(valuesOf(piecesOf(runs, await entries()).text)).toEqual([0])
  })

  it('are identical where nothing has changed', async () => {
    const { put, entries } = await filled(2000)
    const runs = new ListChunkCache()
    const before = piecesOf(runs, await entries()).pieces
    expect(piecesOf(runs, await entries()).pieces).toEqual(before)
    await put(1000, 'changed')
    await put(5000, 'new')
    const after = piecesOf(runs, await entries())
    expect(valuesOf(after.text)[1000]).toBe('changed')
    const fresh = after.pieces.filter((piece) => !before.includes(piece))
    expect(fresh.length).toBeLessThanOrEqual(3)
    expect(before.length).toBeGreaterThan(15)
  })

  it('are shared by a page and the whole list', async () => {
    const { entries } = await filled(2000)
    const runs = new ListChunkCache()
    const all = await entries()
    const whole = piecesOf(runs, all).pieces
    const page = piecesOf(runs, all.slice(0, 1000))
    expect(valuesOf(page.text)).toHaveLength(1000)
    expect(page.pieces.filter((piece) => !whole.includes(piece)).length).toBeLessThanOrEqual(1)
    expect(valuesOf(piecesOf(runs, all).text)).toHaveLength(2000)
  })

  it('keep no superseded entry in memory', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const { put, entries, compact } = await filled(500)
    const runs = new ListChunkCache()
    const superseded = (await entries()).map((entry) => new WeakRef(entry))
    piecesOf(runs, await entries())
    for (let i = 0; i < 500; i++) await put(i, 'changed')
    await compact()
    await setImmediate()
    collect()
    expect(superseded.filter((entry) => entry.deref() !== undefined)).toHaveLength(0)
    expect(valuesOf(piecesOf(runs, await entries()).text)).toEqual(Array.from({ length: 500 }, () => 'changed'))
  })
})
