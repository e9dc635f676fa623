import { utf8Bytes, utf8Text } from '@krmkit/base/bytes'
import { runAtOnce } from '@krmkit/base/work'
import { seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createClient } from './client.ts'
import * as pausable from './large-json.ts'
import { resourceType } from './resource.ts'

const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`example.com/label-${i}`, `v${i}`]))
const large = { kind: 'Pod', metadata: { name: 'wide', labels: wide }, spec: { list: Object.values(wide), last: null } }

const parse = (text: string) => runAtOnce(pausable.parse(utf8Bytes(text)))
const stringify = (value: unknown) => runAtOnce(pausable.stringify(value))

function interruptions(work: Generator): number {
  let count = 0
  while (work.next().done !== true) count++
  return count
}

/** Random JSON values, some longer than the pieces that are parsed in one step. */
function randomValues(seed: number): () => unknown {
  const random = seededRandom(seed)
  const below = (n: number) => ((random.bytes(1)[0] ?? 0) * 256 + (random.bytes(1)[0] ?? 0)) % n
  const texts = ['', 'a', '"', '\\', '{', ']', ',', ':', '\n', '\u2028', 'é', '\ud800', '😀', '__proto__', '1']
  const scalar = () => [null, true, false, 0, -1.5, 1e21, texts[below(texts.length)], 'x'.repeat(below(3000))][below(8)]
  const value = (depth: number): unknown => {
    const kind = depth === 0 ? 0 : below(3)
    if (kind === 0) return scalar()
    const length = below(8) === 0 ? below(80) : below(5)
    const members = Array.from({ length }, () => value(depth - 1))
    if (kind === 1) return members
    const object = {}
    for (const [i, member] of members.entries()) {
      const key = `${texts[below(texts.length)]}${i % 3 === 0 ? '' : i}`
      Object.defineProperty(object, key, { value: member, writable: true, enumerable: true, configurable: true })
    }
    return object
  }
  return () => value(3)
}

describe('parse', () => {
  it('gives the result of JSON.parse', () => {
    const next = randomValues(3)
    for (let i = 0; i < 300; i++) {
      const value = next()
      for (const text of [JSON.stringify(value), JSON.stringify(value, undefined, 2)]) {
        expect(JSON.stringify(parse(text))).toBe(JSON.stringify(JSON.parse(text)))
      }
    }
  })

  it('accepts and rejects the same texts as JSON.parse', () => {
    const text = JSON.stringify({
      a: Array.from({ length: 900 }, (_, i) => ({ name: `n${i}` })),
      b: { c: 'x'.repeat(5000), d: [1, 2] },
    })
    const random = seededRandom(5)
    const below = (n: number) =>
      ((random.bytes(1)[0] ?? 0) * 65536 + (random.bytes(1)[0] ?? 0) * 256 + (random.bytes(1)[0] ?? 0)) % n
    const inserted = ['', ',', '"', '{', '}', '[', ']', ':', ' ', '1', '\u00a0', '\\', 'null', '"x":1,', '{}', '[],']
    let rejected = 0
    for (let i = 0; i < 500; i++) {
      const at = below(text.length)
      const changed = `${text.slice(0, at)}${inserted[below(inserted.length)]}${text.slice(at + below(2))}`
      let expected: unknown
      try {
        expected = JSON.parse(changed)
      } catch (error) {
        rejected++
        expect(() => parse(changed)).toThrow((error as Error).message)
        continue
      }
      expect(parse(changed)).toEqual(expected)
    }
    expect(rejected).toBeGreaterThan(100)
  })

  it('pauses in a large map and in a large list', () => {
    expect(parse(JSON.stringify(large))).toEqual(large)
    expect(interruptions(pausable.parse(utf8Bytes(JSON.stringify({ wide }))))).toBeGreaterThan(100)
    expect(interruptions(pausable.parse(utf8Bytes(JSON.stringify([Object.keys(wide)]))))).toBeGreaterThan(100)
  })

  it('pauses in values with only a few members at each level', () => {
    let text = '0'
    for (let i = 0; i < 300; i++) text = `{${Array.from({ length: 100 }, (_, k) => `"key-${k}":"value"`).join()},"next":${text}}`
    expect(interruptions(pausable.parse(utf8Bytes(text)))).toBeGreaterThan(100)
    expect(parse(text)).toEqual(JSON.parse(text))
  })

  it('returns mutable objects', () => {
    const { metadata } = parse(JSON.stringify(large)) as typeof large
    metadata.labels['other'] = 'new'
    expect(metadata.labels).toEqual({ ...wide, other: 'new' })
  })
})

describe('stringify', () => {
  it('gives the text of JSON.stringify', () => {
    const next = randomValues(4)
    for (let i = 0; i < 300; i++) {
      const value = next()
      expect(stringify(value)).toBe(JSON.stringify(value))
    }
  })

  it('encodes dates, classes and absent values like JSON.stringify', () => {
    class Point {
      readonly x = 1
      readonly none = undefined
    }
    const value = {
      date: new Date(0),
      point: new Point(),
      absent: undefined,
      list: [undefined, () => 1],
      boxed: Object('text'),
      last: 1,
    }
    expect(stringify(value)).toBe(JSON.stringify(value))
    expect(() => stringify({ big: 1n })).toThrow(TypeError)
  })

  it('pauses in a large map and in a large list', () => {
    expect(stringify(large)).toBe(JSON.stringify(large))
    expect(interruptions(pausable.stringify({ wide }))).toBeGreaterThan(100)
    expect(interruptions(pausable.stringify([Object.keys(wide)]))).toBeGreaterThan(100)
  })
})

describe('a client', () => {
  it('sends and receives large objects in several turns of the event loop', async () => {
    let sent = ''
    const client = createClient({
      async send({ body }) {
        sent = utf8Text(body ?? new Uint8Array())
        return {
          status: 200,
          headers: {},
          body: (async function* () {
            yield utf8Bytes(sent)
          })(),
        }
      },
      close: async () => undefined,
    })
    const type = resourceType({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' })
    let turns = 0
    const count = (): void => {
      turns++
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    const small = await client.create(type, { metadata: { name: 'small' } })
    expect(small).toEqual({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'small' } })
    expect(turns).toBe(0)
    const created = await client.create(type, { metadata: large.metadata })
    clearImmediate(counting)
    expect(turns).toBeGreaterThan(1)
    expect(sent).toBe(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: large.metadata }))
    expect(created).toEqual(JSON.parse(sent))
  })
})
