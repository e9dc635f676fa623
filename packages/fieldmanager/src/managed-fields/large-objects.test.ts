import { describe, expect, it } from 'vitest'
import { FieldManagerError } from '../field-manager-error.ts'
import * as paced from '../paced.ts'
import { applied, apply, type ConfigMap, configMap, second, types, update } from '../testing/config-maps.ts'
import { runCounting } from '../testing/counting.ts'
import { applyParts } from './apply.direct.ts'
import type { ApplyPatchRequest } from './apply.ts'
import { capManagers } from './cap-managers.ts'
import { conflictError } from './conflicts.ts'
import { decodeManagedFields } from './entries.direct.ts'
import { managedFieldsAfterUpdate } from './update.direct.ts'

const size = 600
const data = (value: string, from = 0) =>
  Object.fromEntries(Array.from({ length: size }, (_, i) => [`k${i + from}`, value] as const))
const finalizers = Array.from({ length: size }, (_, i) => `example.com/f${i}`)

const created = update(undefined, configMap(data('a'), { finalizers }))
const shared = update(created, configMap({ ...data('a'), k1: 'b' }, { finalizers }), 'second', 2 * second)
const owned = applied(undefined, data('a'), 'first')

const updates: Record<string, { live: ConfigMap | undefined; next: ConfigMap }> = {
  'a new object': { live: undefined, next: configMap(data('a'), { finalizers }) },
  'an unchanged object': { live: shared, next: configMap({ ...data('a'), k1: 'b' }, { finalizers }) },
  'changed values': { live: shared, next: configMap(data('c'), { finalizers: [...finalizers].reverse() }) },
  'other keys': { live: shared, next: configMap(data('c', size / 2), { finalizers: finalizers.slice(size / 2) }) },
  'owners of the client': {
    live: shared,
    next: configMap(data('c'), { managedFields: JSON.parse(JSON.stringify(owned.metadata.managedFields)) }),
  },
}

describe('sliced ownership of large objects', () => {
  for (const [name, { live, next }] of Object.entries(updates)) {
    it(`equals the unsliced result of an update: ${name}`, () => {
      const request = { live, next, manager: 'u', apiVersion: 'v1', now: 5 * second, types }
      const { value, steps } = runCounting(paced.managedFieldsAfterUpdate(request))
      expect(value).toEqual(managedFieldsAfterUpdate(request))
      expect(steps).toBeGreaterThan(4)
    })
  }

  const applies: Record<string, Pick<ApplyPatchRequest, 'live' | 'applied' | 'manager' | 'force'>> = {
    'a new object': { live: undefined, applied: configMap(data('a')), manager: 'first', force: false },
    'the same again': { live: owned, applied: configMap(data('a')), manager: 'first', force: false },
    'fewer keys': { live: owned, applied: configMap({ k1: 'x' }), manager: 'first', force: false },
    'stolen keys': { live: owned, applied: configMap(data('z')), manager: 'second', force: true },
    conflicts: { live: owned, applied: configMap(data('z')), manager: 'second', force: false },
    'an object without owners': { live: configMap(data('a')), applied: configMap(data('z')), manager: 'second', force: true },
  }
  for (const [name, intent] of Object.entries(applies)) {
    it(`equals the unsliced result of an apply: ${name}`, () => {
      const request = { ...intent, apiVersion: 'v1', now: 5 * second, types }
      const { value, steps } = runCounting(paced.applyParts(request))
      expect(value).toEqual(applyParts(request))
      expect(steps).toBeGreaterThan(2)
    })
  }
})

describe('an apply that drops one of many fields', () => {
  const stepsOf = (count: number) => {
    const keys = Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'a']))
    const { k0: _, ...fewer } = keys
    const request = { live: applied(undefined, keys, 'first'), applied: configMap(fewer), manager: 'first', force: false }
    const { value, steps } = runCounting(paced.applyParts({ ...request, apiVersion: 'v1', now: 5 * second, types }))
    if (value.kind !== 'applied') throw new Error('no result')
    const { data = {} } = value.value as unknown as ConfigMap
    return { left: Object.keys(data).length, steps }
  }

  it('yields in proportion to the paths that it compares', () => {
    const [small, large] = [stepsOf(1000), stepsOf(5000)]
    expect([small.left, large.left]).toEqual([999, 4999])
    // Without pruning, an apply yields four times per 64 paths.
    expect(large.steps - small.steps).toBeGreaterThan((8 * 4000) / 64)
  })
})

describe('an apply of an object that does not fit its type', () => {
  const failure = (count: number, item: (index: number) => string) => {
    const intent = configMap({}, { finalizers: Array.from({ length: count }, (_, i) => item(i)) })
    const request = { applied: intent, manager: 'm', force: false, apiVersion: 'v1', types }
    let steps = 0
    try {
      for (const work = paced.applyParts(request); work.next().done !== true; ) steps++
    } catch (error) {
      if (error instanceof FieldManagerError) return { steps, error }
      throw error
    }
    throw new Error('no failure')
  }

  it('reports a bounded number of errors', () => {
    const { error } = failure(5000, () => 'example.com/a')
    expect(error.errors).toHaveLength(1000)
    expect(error.message.length).toBeLessThan(256 * 1024)
  })

  it('yields while it searches the errors', () => {
    const small = failure(2000, (i) => `example.com/${i === 1999 ? 0 : i}`)
    const large = failure(8000, (i) => `example.com/${i === 7999 ? 0 : i}`)
    expect(large.error.errors).toEqual(['.metadata.finalizers: duplicate entries for key [="example.com/0"]'])
    // The walk happens twice: once to check the object, and once to collect the errors.
    expect(small.steps).toBeGreaterThan((2 * 2000) / 128)
    expect(large.steps).toBeGreaterThan((2 * 8000) / 128)
  })

  it('equals the unsliced result', () => {
    const finalizers = ['a', 'b', 'a', 1, null]
    const applied = { ...configMap({}, { finalizers }), unknown: { a: [{}] } } as unknown as ConfigMap
    const request = { applied, manager: 'm', force: false, apiVersion: 'v1', types }
    const errorOf = (run: () => void) => {
      try {
        run()
      } catch (error) {
        return error
      }
      return undefined
    }
    const expected = errorOf(() => applyParts(request))
    expect(expected).toBeInstanceOf(FieldManagerError)
    expect(errorOf(() => runCounting(paced.applyParts(request)))).toEqual(expected)
  })
})

describe('conflicts over many fields', () => {
  it('lists conflicts up to the limit, and counts all', () => {
    const result = apply(owned, data('z'), 'second', { maxConflicts: 3 })
    if (result.kind !== 'conflict') throw new Error('no conflict')
    expect(result.total).toBe(size)
    expect(result.conflicts.map(({ field }) => field)).toEqual(['.data.k0', '.data.k1', '.data.k10'])
    const { status } = conflictError(result.conflicts, result.total)
    expect(status.details?.causes).toHaveLength(3)
    expect(status.message).toBe(
      `Apply failed with ${size} conflicts: conflicts with "first":\n- .data.k0\n- .data.k1\n- .data.k10\nand ${size - 3} more`,
    )
  })
})

describe('many old update entries', () => {
  it('unites old entries pairwise, without copying each path once per entry', () => {
    const entries = Array.from({ length: 300 }, (_, i) => ({
      manager: `m${i}`,
      operation: 'Update' as const,
      apiVersion: 'v1',
      time: '2024-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { [`f:k${i}`]: {} } },
    }))
    const { value, steps } = runCounting(capManagers(decodeManagedFields(entries)))
    expect(value.managers.size).toBe(10)
    expect([...value.managers.values()].reduce((sum, { set }) => sum + set.size, 0)).toBe(300)
    expect(steps).toBeGreaterThan(200)
  })
  it('yields while it orders and merges entries', () => {
    const count = 5000
    const set = decodeManagedFields(created.metadata.managedFields).managers.values().next().value
    if (set === undefined) throw new Error('no owner')
    let reads = 0
    class CountingTimes extends Map<string, string> {
      override get(key: string): string | undefined {
        reads++
        return super.get(key)
      }
    }
    const times = new CountingTimes()
    const managers = new Map<string, typeof set>()
    for (let i = 0; i < count; i++) {
      const key = `m${(i * 7919) % count}`
      managers.set(key, set)
      times.set(key, new Date(i * second).toISOString())
    }
    let longest = 0
    const work = capManagers({ managers, times, sources: new Map() })
    do {
      longest = Math.max(longest, reads)
      reads = 0
    } while (work.next().done !== true)
    expect(longest).toBeGreaterThan(0)
    expect(longest).toBeLessThanOrEqual(100)
  })
})
