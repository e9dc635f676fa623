import { RandomChoices } from '@krmkit/base/random-choices'
import { runAtOnce } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { FieldManagerError } from '../field-manager-error.ts'
import type { FieldSet } from '../fieldpath/field-set.ts'
import { source } from '../testing/config-maps.ts'
import { randomSchema, randomValue } from '../testing/random-schema.ts'
import { compareTyped } from './compare.direct.ts'
import { createdSet } from './created-set.direct.ts'
import { fieldSetOf } from './field-set-of.ts'
import { typedSchemaOf, zeroObjectOf } from './from-struct.ts'
import { mergeTyped } from './merge.direct.ts'
import { validateValue } from './validate.direct.ts'
import { validatedFieldSet } from './validated-field-set.direct.ts'
import { validatedFieldSet as pacedFieldSet } from './validated-field-set.ts'

/** Compares fast paths with the general implementation over random values, half of them corrupted. */
describe('fast paths of typed walks', () => {
  it('validatedFieldSet equals validateValue plus fieldSetOf', () => {
    let [fit, unfit] = [0, 0]
    for (let seed = 1; seed <= 2000; seed++) {
      const random = new RandomChoices(seed)
      const schema = randomSchema(random)
      const type = schema.type('t0')
      const value = corrupted(random, randomValue(random, schema.shapes, 't0'), 4)
      const errors = validateValue(value, type)
      const set = validatedFieldSet(value, type)
      expect(runAtOnce(pacedFieldSet(value, type))?.toString(), `seed ${seed}`).toBe(set?.toString())
      if (errors.length > 0) expect(set, `seed ${seed}`).toBeUndefined()
      else expect(set?.toString(), `seed ${seed}`).toBe(fieldSetOf(value, type).toString())
      if (errors.length > 0) unfit++
      else fit++
    }
    expect(Math.min(fit, unfit)).toBeGreaterThan(300)
  })

  it('validatedFieldSet reuses an equal set of many members', () => {
    const type = typedSchemaOf(source.struct('core/v1.ConfigMap'))
    const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']))
    const like = runAtOnce(pacedFieldSet({ data: members(100) }, type))
    const data = (value: JsonValue) => runAtOnce(pacedFieldSet(value, type, like))?.withPrefix('f:data')
    expect(data({ data: members(100) })).toBe(like?.withPrefix('f:data'))
    expect(data({ data: members(99) })?.size).toBe(99)
    expect(data({ data: members(101) })?.size).toBe(101)
    expect(data({ data: { ...members(99), k99: 1 } })).toBeUndefined()
  })

  it('createdSet equals the added and modified paths of compareTyped', () => {
    let supported = 0
    for (let seed = 1; seed <= 2000; seed++) {
      const random = new RandomChoices(seed)
      const schema = randomSchema(random)
      const type = schema.type('t0')
      const value = corrupted(random, randomValue(random, schema.shapes, 't0'), 1)
      const zero = zeroOf(random, value)
      const set = createdSet(value, zero, type)
      if (set === undefined) continue
      supported++
      const { added, modified } = compareTyped(zero, value, type)
      expect(set.toString(), `seed ${seed}`).toBe(modified.union(added).toString())
    }
    expect(supported).toBeGreaterThan(1500)
  })

  it('similar sets change no result and are shared when equal', () => {
    let [shared, other] = [0, 0]
    for (let seed = 1; seed <= 2000; seed++) {
      const random = new RandomChoices(seed)
      const schema = randomSchema(random)
      const type = schema.type('t0')
      const before = randomValue(random, schema.shapes, 't0')
      const value = random.chance(30) ? structuredClone(before) : corrupted(random, before, 2)
      const zero = zeroOf(random, value)
      const walks = [
        (of: JsonValue, like?: FieldSet) => validatedFieldSet(of, type, like),
        (of: JsonValue, like?: FieldSet) => createdSet(of, zero, type, like),
      ]
      for (const walk of walks) {
        const like = walk(before)
        const set = walk(value, like)
        expect(set?.toString(), `seed ${seed}`).toBe(walk(value)?.toString())
        if (set === undefined || like === undefined) continue
        if (set === like) shared++
        else other++
        expect(walk(value, set)?.equals(set), `seed ${seed}`).toBe(true)
      }
    }
    expect(Math.min(shared, other)).toBeGreaterThan(150)
  })

  for (const kind of ['core/v1.ConfigMap', 'core/v1.Pod', 'core/v1.Service', 'apps/v1.Deployment', 'batch/v1.CronJob']) {
    it(`createdSet handles an empty ${kind}`, () => {
      const struct = source.struct(kind)
      const type = typedSchemaOf(struct)
      const zero = zeroObjectOf(struct)
      for (const value of [zero, { ...zero, spec: {} }, { ...zero, spec: null, metadata: { labels: {} } }] as JsonObject[]) {
        const { added, modified } = compareTyped(zero, value, type)
        const set = createdSet(value, zero, type)
        if (set !== undefined) expect(set.toString()).toBe(modified.union(added).toString())
      }
    })
  }

  it('mergeTyped with checked equals mergeTyped without', () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const random = new RandomChoices(seed)
      const schema = randomSchema(random)
      const type = schema.type('t0')
      const base = corrupted(random, randomValue(random, schema.shapes, 't0'), 1)
      const patch = randomValue(random, schema.shapes, 't0')
      const merged = outcome(() => mergeTyped(base, patch, type))
      expect(
        outcome(() => mergeTyped(base, patch, type, { checked: true })),
        `seed ${seed}`,
      ).toEqual(merged)
    }
  })
})

function outcome(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    if (error instanceof FieldManagerError) return error.message
    throw error
  }
}

/** Corrupts every other value. */
function corrupted(random: RandomChoices, value: JsonValue, times: number): JsonValue {
  if (random.chance(50)) return value
  let out = value
  for (let i = 0; i < times; i++) out = corrupt(random, out)
  return out
}

const oddities: readonly JsonValue[] = [
  null,
  {},
  [],
  'p',
  1,
  true,
  { key: 'x' },
  ['x', 'x'],
  [{ key: 'x' }, { key: 'x' }],
  [{}],
  [null],
]

function corrupt(random: RandomChoices, value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || random.chance(20)) return random.pick(oddities)
  if (Array.isArray(value)) {
    const at = random.below(value.length + 1)
    return value.map((item, i) => (i === at ? corrupt(random, item) : item)).concat(random.chance(30) ? value.slice(0, 1) : [])
  }
  const keys = Object.keys(value)
  const key = random.chance(10) || keys.length === 0 ? 'other' : random.pick(keys)
  return { ...value, [key]: corrupt(random, value[key] ?? null) }
}

/** Part of the value's members, as they are before they are set. */
function zeroOf(random: RandomChoices, value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return null
  const zero: JsonObject = {}
  for (const [key, member] of Object.entries(value)) {
    if (random.chance(50)) zero[key] = random.chance(30) ? null : zeroOf(random, member)
  }
  return zero
}
