import { runAtOnce } from '@krmkit/base/work'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runCounting } from '../testing/counting.ts'
import { compareElements, type FieldPath, fieldElement, indexElement, keyElement, valueElement } from './element.ts'
import { comparePaths, FieldSet } from './field-set.ts'
import { formatFieldsV1, parseFieldsV1 } from './fields-v1-text.ts'
import { difference, intersection } from './set-algebra.ts'
import { filterSet, prefixMatcher } from './set-filter.ts'
import { sortElements } from './sort-elements.direct.ts'

const scalar = fc.oneof(fc.string({ maxLength: 3 }), fc.integer({ min: -5, max: 5 }), fc.boolean())
const element = fc.oneof(
  fc.string({ maxLength: 2 }).map(fieldElement),
  fc.constantFrom('a', 'b', 'c').map(fieldElement),
  fc.integer({ min: 0, max: 3 }).map(indexElement),
  scalar.map(valueElement),
  fc
    .uniqueArray(fc.constantFrom('name', 'port'), { minLength: 1 })
    .chain((names) =>
      fc
        .tuple(...names.map(() => scalar))
        .map((values) => keyElement(names.map((name, i) => ({ name, value: values[i] as string })))),
    ),
)
const path = fc.array(element, { minLength: 1, maxLength: 4 })
const set = fc.array(path, { maxLength: 12 }).map((paths) => FieldSet.of(...paths))
const run = { seed: 20250101, numRuns: 500 }

const texts = (one: FieldSet): Set<string> => new Set(one.paths().map((each) => JSON.stringify(each)))

describe('FieldSet', () => {
  it('obeys set algebra', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const [left, right] = [texts(a), texts(b)]
        expect(texts(a.union(b))).toEqual(new Set([...left, ...right]))
        expect(texts(a.intersection(b))).toEqual(new Set([...left].filter((each) => right.has(each))))
        expect(texts(a.difference(b))).toEqual(new Set([...left].filter((each) => !right.has(each))))
        expect(a.union(b).equals(b.union(a))).toBe(true)
        expect(a.difference(b).union(a.intersection(b)).equals(a)).toBe(true)
        expect(a.isSubsetOf(b)).toBe([...left].every((each) => right.has(each)))
        expect(a.equals(b)).toBe(a.isSubsetOf(b) && b.isSubsetOf(a))
        expect(a.size).toBe(left.size)
      }),
      run,
    )
  })

  it('gives the same results in steps', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        expect(runAtOnce(difference(a, b))).toEqual(a.difference(b))
        expect(runAtOnce(intersection(a, b))).toEqual(a.intersection(b))
        expect(runAtOnce(difference(a, a.difference(b)))).toEqual(a.difference(a.difference(b)))
      }),
      run,
    )
  })

  it('yields for every few elements of large sets', () => {
    const items = (from: number) =>
      FieldSet.of(...Array.from({ length: 2000 }, (_, i) => ['f:env', `k:{"name":"e${i + from}"}`, 'f:value']))
    const [a, b] = [items(0), items(1000)]
    const without = runCounting(difference(a, b))
    const common = runCounting(intersection(a, b))
    expect([without.value.size, common.value.size]).toEqual([1000, 1000])
    expect(without.steps).toBeGreaterThan(2000 / 128)
    expect(common.steps).toBeGreaterThan(2000 / 128)
  })

  it('removes most or few of many elements', () => {
    const keys = (from: number, to: number) => FieldSet.of(...Array.from({ length: to - from }, (_, i) => [`f:k${i + from}`]))
    const all = keys(0, 300)
    expect(all.difference(keys(0, 299)).paths()).toEqual([['f:k299']])
    expect(all.difference(keys(1, 300)).paths()).toEqual([['f:k0']])
    expect(all.difference(keys(0, 2)).size).toBe(298)
    expect(all.difference(keys(300, 600))).toBe(all)
  })

  it('removes everything below members in a recursive difference', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const members = b.paths()
        const below = (each: FieldPath): boolean => members.some((prefix) => prefix.every((step, i) => each[i] === step))
        expect(a.recursiveDifference(b).paths()).toEqual(a.paths().filter((each) => !below(each)))
      }),
      run,
    )
  })

  it('keeps as leaves the members that are not a prefix of another', () => {
    fc.assert(
      fc.property(set, (a) => {
        const all = a.paths()
        const prefix = (each: FieldPath): boolean =>
          all.some((other) => other.length > each.length && each.every((step, i) => other[i] === step))
        expect(a.leaves().paths()).toEqual(all.filter((each) => !prefix(each)))
      }),
      run,
    )
  })

  it('survives encoding and parsing', () => {
    fc.assert(
      fc.property(set, (a) => {
        const text = formatFieldsV1(a)
        const read = parseFieldsV1(text)
        expect(read.equals(a)).toBe(true)
        expect(formatFieldsV1(read)).toBe(text)
      }),
      run,
    )
  })

  it('returns an operand when it equals the result', () => {
    const a = FieldSet.of(['f:a', 'f:b'])
    const b = FieldSet.of(['f:c'])
    expect(a.union(FieldSet.of(['f:a', 'f:b']))).toBe(a)
    expect(a.difference(b)).toBe(a)
    expect(a.intersection(a.union(b))).toEqual(a)
    expect(a.recursiveDifference(b)).toBe(a)
    expect(a.difference(a).empty).toBe(true)
  })

  it('orders elements totally', () => {
    fc.assert(
      fc.property(fc.array(element, { maxLength: 20 }), (elements) => {
        const sorted = sortElements([...elements])
        for (let i = 1; i < sorted.length; i++)
          expect(compareElements(sorted[i - 1] as string, sorted[i] as string)).toBeLessThanOrEqual(0)
        expect(sortElements([...elements].reverse())).toEqual(sorted)
      }),
      run,
    )
  })

  it('orders a prefix before longer paths', () => {
    expect([['f:b'], ['f:a', 'f:c'], ['f:a']].sort(comparePaths)).toEqual([['f:a'], ['f:a', 'f:c'], ['f:b']])
  })

  it('filters by pattern, keeping everything below a match', () => {
    const all = FieldSet.of(['f:spec', 'f:a', 'f:x'], ['f:spec', 'f:b', 'f:x'], ['f:status', 'f:c'])
    expect(String(filterSet(all, { include: prefixMatcher(['f:spec', '*', 'f:x']) }))).toBe('.spec.a.x\n.spec.b.x')
    expect(String(filterSet(all, { include: prefixMatcher(['f:status']) }))).toBe('.status.c')
    expect(filterSet(all, { include: prefixMatcher() }).empty).toBe(true)
    expect(filterSet(all, { exclude: FieldSet.of(['f:spec']) }).paths()).toEqual([['f:status', 'f:c']])
    expect(filterSet(all, undefined)).toBe(all)
  })
})
