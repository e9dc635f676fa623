import type { JsonObject, JsonValue } from '@krmkit/meta'
import { createTypeSource, stringifyJson } from '@krmkit/schema'
import { describe, expect, it, vi } from 'vitest'
import { FieldManagerError } from '../field-manager-error.ts'
import * as paced from '../paced.ts'
import { KeyReadCounter, runCounting } from '../testing/counting.ts'
import { modelFiles } from '../testing/model.ts'
import { deepFreeze } from '../testing/vectors.ts'
import { equalValues } from '../value/equal.direct.ts'
import { copyValue } from './copy-value.ts'
import { jsonPatch } from './json-patch.direct.ts'
import { mergePatch } from './merge-patch.direct.ts'
import { stableOrder } from './stable-sort.ts'
import { strategicMergePatch } from './strategic-merge.direct.ts'

const source = createTypeSource(modelFiles())
const podType = source.struct('core/v1.Pod')
const mapType = source.struct('core/v1.ConfigMap')

const list = <T>(length: number, item: (i: number) => T): T[] => Array.from({ length }, (_, i) => item(i))
const env = (length: number, value: string, from = 0) => list(length, (i) => ({ name: `e${i + from}`, value }))
const pod = (container: JsonObject) => ({ spec: { containers: [{ name: 'c', ...container }] } })
const finalizers = (length: number, letter: string) => list(length, (i) => `${letter}${i}`)
const map = (length: number, value: JsonValue): JsonObject => Object.fromEntries(list(length, (i) => [`k${i}`, value] as const))
const names = (items: readonly { name: string }[]) => items.map(({ name }) => ({ name }))

/** Strategic merge patches by size, for which a naive algorithm takes quadratic time. */
const strategic: Record<string, (n: number) => [JsonObject, JsonObject]> = {
  'changes of items': (n) => [pod({ env: env(n, 'a') }), pod({ env: env(n, 'b', n >> 1) })],
  'items in another order': (n) => [pod({ env: env(n, 'a') }), pod({ env: env(n, 'b').reverse() })],
  'deletions of items': (n) => [
    pod({ env: env(n, 'a') }),
    pod({ env: names(env(n, 'a')).map((item) => ({ ...item, $patch: 'delete' })) }),
  ],
  'one change again and again': (n) => [pod({ env: env(4, 'a') }), pod({ env: list(n, (i) => ({ name: 'e1', value: `${i}` })) })],
  'an order of items': (n) => [pod({ env: env(n, 'a') }), pod({ env: env(n, 'b'), '$setElementOrder/env': names(env(n, 'a')) })],
  'items that no order knows': (n) => [pod({ env: env(n, 'a') }), pod({ env: env(n, 'b', n), '$setElementOrder/env': [] })],
  'an order of values': (n) => [
    { metadata: { finalizers: finalizers(n, 'f') } },
    { metadata: { finalizers: finalizers(n, 'g'), '$setElementOrder/finalizers': [] } },
  ],
  'deletions of values': (n) => [
    { metadata: { finalizers: finalizers(n, 'f') } },
    { metadata: { '$deleteFromPrimitiveList/finalizers': finalizers(n, 'f') } },
  ],
  'members of a map': (n) => [{ data: map(n, 'a') }, { data: map(n, 'b') }],
  'members of a new map': (n) => [
    {},
    { data: { ...map(n, 'a'), b: null, c: { $patch: 'delete', a: 1 }, d: [null, { a: null }] } },
  ],
  'members that go': (n) => [{ data: map(n, 'a') }, { data: map(n, null) }],
}

/** Copies an object and counts reads of its names. */
function counted(value: JsonValue, reads: KeyReadCounter): JsonValue {
  if (Array.isArray(value)) return value.map((item) => counted(item, reads))
  if (typeof value !== 'object' || value === null) return value
  const { name, ...rest } = value
  const members = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, counted(member, reads)]))
  return typeof name === 'string' ? reads.item(name, members) : members
}

describe('values of large patches', () => {
  const value = { a: [1, 'é"', null, { b: true }], ...map(500, { x: [1.5, 12345678901234567890n] }), '': {}, l: [] }

  it('are copied with the length of their JSON', () => {
    const { copy, length } = runCounting(copyValue(deepFreeze(value), () => false)).value
    expect(copy).toEqual(value)
    expect(copy).not.toBe(value)
    expect(length).toBe(stringifyJson(value).length)
  })

  it('are compared in steps', () => {
    const other = (change: object): JsonValue => ({ ...value, ...change }) as JsonValue
    for (const change of [{}, { a: [1] }, { k3: { x: [1.5] } }, { l: {} }, { more: 1 }, { '': null }, { l: undefined }]) {
      const sliced = runCounting(paced.equalValues(value, other(change)))
      expect(sliced.value).toBe(equalValues(value, other(change)))
      expect(runCounting(paced.equalValues(other(change), value)).value).toBe(sliced.value)
    }
    expect(runCounting(paced.equalValues(value, other({}))).steps).toBeGreaterThan(5)
  })

  it('are refused when nested too deeply', () => {
    const deep = Array.from({ length: 1100 }).reduce<JsonValue>((inner) => [inner], 1)
    expect(() => runCounting(copyValue(deep, () => false))).toThrow('nested deeper')
    expect(() => runCounting(paced.mergePatch({}, { deep }))).toThrow('nested deeper')
  })

  it('are copied in many steps when copies double them', () => {
    const operations = [
      { op: 'add', path: '/x', value: { a: 'x' } },
      ...list(12, (i) => ({ op: 'copy', from: '/x', path: `/x/${i}` })),
    ]
    const { value: patched, steps } = runCounting(paced.jsonPatch({}, operations))
    expect(patched).toEqual(jsonPatch({}, operations))
    expect(steps).toBeGreaterThan(80)
  })
})

describe('strategic merge patches of large lists', () => {
  for (const [name, make] of Object.entries(strategic)) {
    const type = make(1)[0].spec === undefined ? mapType : podType

    it(`reads each item a constant number of times: ${name}`, () => {
      const size = 2000
      const reads = new KeyReadCounter()
      const [original, patch] = make(size).map((object) => counted(object, reads)) as [JsonObject, JsonObject]
      strategicMergePatch(type, original, patch)
      expect(reads.count).toBeLessThan(60 * size)
    })

    it(`equals the unsliced result: ${name}`, () => {
      const [original, patch] = deepFreeze(make(300))
      const sliced = runCounting(paced.strategicMergePatch(type, original, patch))
      expect(sliced.value).toEqual(strategicMergePatch(type, original, patch))
      expect(sliced.steps).toBeGreaterThan(1)
    })
  }

  it('orders items without a position as kube-apiserver does, in lists of more than 20', () => {
    const change = [...env(3, 'b'), { name: 'o5', value: 'q' }, ...list(25, (i) => ({ name: `m${i}`, value: 'b' }))]
    const own = list(30, (i) => ({ name: `o${i}`, value: 'a' }))
    const merged = strategicMergePatch(podType, pod({ env: own }), pod({ env: change, '$setElementOrder/env': [] }))
    const spec = (merged as JsonObject).spec as { containers: { env: { name: string }[] }[] }
    const down = (letter: string, from: number) => list(from + 1, (i) => `${letter}${from - i}`)
    const up = (letter: string, from: number, to: number) => list(to - from + 1, (i) => `${letter}${from + i}`)
    expect(spec.containers[0]?.env.map(({ name }) => name)).toEqual([
      ...up('o', 6, 29),
      ...down('m', 24),
      ...up('o', 0, 5),
      ...down('e', 2),
    ])
  })

  it('sorts in at most linearly many slices', () => {
    const places = Int32Array.from({ length: 4000 }, (_, i) => (i % 3 === 0 ? -1 : i))
    const { value, steps } = runCounting(stableOrder(places))
    expect(new Set(value).size).toBe(places.length)
    expect(steps).toBeLessThan(places.length)
  })
})

describe('JSON patches of long lists', () => {
  const move = { op: 'move', from: '/a/0', path: '/a/-' }
  const kinds: Record<string, (i: number) => JsonObject> = {
    moves: () => move,
    additions: (i) => ({ op: 'add', path: '/a/0', value: { i } }),
    removals: () => ({ op: 'remove', path: '/a/0' }),
    'additions in the middle': (i) => ({ op: 'add', path: `/a/${500 + i}`, value: i }),
    tests: () => ({ op: 'test', path: '/a/1', value: { i: 1 } }),
  }

  it('equals the result on plain lists', () => {
    const document = { a: list(3000, (i) => ({ i })), b: {} }
    const operations = Object.entries(kinds).flatMap(([name, make]) => (name === 'tests' ? [] : list(1500, make)))
    const expected: JsonValue[] = [...document.a]
    for (let i = 0; i < 1500; i++) expected.push(expected.shift() as JsonValue)
    for (let i = 0; i < 1500; i++) expected.unshift({ i })
    expected.splice(0, 1500)
    for (let i = 0; i < 1500; i++) expected.splice(500 + i, 0, i)
    const patched = jsonPatch(deepFreeze(document), operations)
    expect(patched).toEqual({ a: expected, b: {} })
    expect(document.a[0]).toEqual({ i: 0 })
    expect(runCounting(paced.jsonPatch(document, operations)).steps).toBeGreaterThanOrEqual(operations.length)
  })

  it('sees the effects of earlier operations on a long list', () => {
    const document = { a: list(2000, (i) => i) }
    const operations = [
      { op: 'remove', path: '/a/0' },
      { op: 'test', path: '/a', value: list(1999, (i) => i + 1) },
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/a/0', value: 'x' },
      { op: 'move', from: '/a', path: '/c' },
      { op: 'replace', path: '/c/1', value: 'y' },
      { op: 'test', path: '/c/-1', value: 1999 },
    ]
    expect(jsonPatch(document, operations)).toEqual({
      b: list(1999, (i) => i + 1),
      c: ['x', 'y', ...list(1998, (i) => i + 2)],
    })
  })

  it('moves few items per operation', () => {
    const splice = vi.spyOn(Array.prototype, 'splice')
    jsonPatch(
      { a: list(50_000, (i) => i) },
      list(500, () => move),
    )
    const longest = Math.max(...splice.mock.contexts.map((items) => (items as unknown[]).length))
    splice.mockRestore()
    expect(longest).toBeLessThan(3000)
  })

  it('does not copy moved values', () => {
    const big = map(5000, 'x')
    const there = [
      { op: 'move', from: '/a', path: '/b' },
      { op: 'move', from: '/b', path: '/a' },
    ]
    const patched = jsonPatch(deepFreeze({ a: big }), list(5000, () => there).flat()) as JsonObject
    expect(patched.a).toBe(big)
  })
})

describe('hostile patches', () => {
  const members = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']

  it('treat names of inherited members as ordinary members', () => {
    for (const name of members) {
      const set = jsonPatch({ data: {} }, [{ op: 'add', path: `/data/${name}`, value: 'x' }]) as { data: JsonObject }
      expect(Object.entries(set.data)).toEqual([[name, 'x']])
      expect(Object.getPrototypeOf(set.data)).toBe(Object.prototype)
      expect(jsonPatch(set, [{ op: 'test', path: `/data/${name}`, value: 'x' }])).toEqual(set)
      expect(jsonPatch(set, [{ op: 'remove', path: `/data/${name}` }])).toEqual({ data: {} })
      expect(() => jsonPatch({ data: {} }, [{ op: 'remove', path: `/data/${name}` }])).toThrow(FieldManagerError)
      expect(() => jsonPatch({ data: {} }, [{ op: 'add', path: `/data/${name}/x`, value: 1 }])).toThrow(FieldManagerError)
      const patch = JSON.parse(`{"data":{"${name}":"x"}}`) as JsonObject
      for (const merged of [
        mergePatch({ data: {} }, patch),
        runCounting(paced.mergePatch({ data: {} }, patch)).value,
        strategicMergePatch(mapType, { data: { a: 'b' } }, patch),
        runCounting(paced.strategicMergePatch(mapType, { data: { a: 'b' } }, patch)).value,
      ]) {
        expect(Object.entries((merged as { data: JsonObject }).data).at(-1)).toEqual([name, 'x'])
      }
    }
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  it('are rejected when nested too deeply, through every operation', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`) as JsonObject
    const lists = JSON.parse(`${'['.repeat(9000)}1${']'.repeat(9000)}`) as JsonValue
    for (const value of [deep, lists]) {
      expect(() => mergePatch({}, { data: value })).toThrow(FieldManagerError)
      expect(() => strategicMergePatch(mapType, {}, { data: value })).toThrow(FieldManagerError)
      expect(() => jsonPatch({}, [{ op: 'add', path: '/a', value }])).toThrow(FieldManagerError)
    }
    const chain = list(900, () => ['/a', '/b']).flatMap(([a, b]) => [
      { op: 'copy', from: a as string, path: `${b}` },
      { op: 'move', from: b as string, path: `/a/n` },
      { op: 'copy', from: '/a', path: '/c' },
      { op: 'move', from: '/c', path: '/a' },
    ])
    expect(() => jsonPatch({ a: { n: {} } }, chain)).not.toThrow(RangeError)
  })
})
