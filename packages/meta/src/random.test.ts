import { RandomChoices } from '@krmkit/base/random-choices'
import { describe, expect, it } from 'vitest'
import { validateDns1123Label } from './names/name-formats.ts'
import { generateName, nameSuffixAlphabet, seededRandom, systemRandom } from './random.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe.each([
  ['system', systemRandom],
  ['seeded', seededRandom(7)],
] as const)('%s random', (_name, random) => {
  it('creates distinct version 4 UUIDs [P12]', () => {
    const all = new Set(Array.from({ length: 500 }, () => random.uuid()))
    expect(all.size).toBe(500)
    for (const text of all) expect(text).toMatch(uuid)
  })

  it('creates suffixes from the whole alphabet and nothing else [P10]', () => {
    const seen = new Set(Array.from({ length: 400 }, () => random.nameSuffix(5)).join(''))
    expect([...seen].sort().join('')).toBe([...nameSuffixAlphabet].sort().join(''))
    expect(random.nameSuffix(0)).toBe('')
    expect(random.nameSuffix(5)).toHaveLength(5)
  })

  it('creates any number of bytes', () => {
    expect(random.bytes(0)).toHaveLength(0)
    expect(random.bytes(70_000)).toHaveLength(70_000)
  })

  it('keeps at most 58 characters of a generateName [P10]', () => {
    expect(generateName('g-', random)).toMatch(/^g-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    const name = generateName('g'.repeat(200), random)
    expect(name).toHaveLength(63)
    expect(validateDns1123Label(name)).toEqual([])
  })
})

it('systemRandom hands out each byte once', () => {
  const texts = Array.from({ length: 2000 }, () => systemRandom.bytes(8).join())
  expect(new Set(texts).size).toBe(2000)
  const zero = new Array(8).fill(0).join()
  expect(texts).not.toContain(zero)
})

it('seededRandom repeats its sequence for the same seed', () => {
  const draw = (seed: number) => {
    const random = seededRandom(seed)
    return [random.uuid(), random.nameSuffix(5), [...random.bytes(4)]]
  }
  expect(draw(1)).toEqual(draw(1))
  expect(draw(1)).not.toEqual(draw(2))
})

describe('RandomChoices', () => {
  const draw = (random: RandomChoices) => [
    random.next(),
    random.below(10),
    random.pick(['a', 'b']),
    random.chance(50),
    [...random.bytes(3)],
  ]

  it('repeats a sequence for the same seed, and has independent sequences per seed', () => {
    expect(draw(new RandomChoices(1))).toEqual(draw(new RandomChoices(1)))
    expect(draw(new RandomChoices(1, 0))).toEqual(draw(new RandomChoices(1, 0)))
    const firsts = [new RandomChoices(1), new RandomChoices(1, 0), new RandomChoices(1, 1), new RandomChoices(2, 0)].map((each) =>
      each.next(),
    )
    expect(new Set(firsts).size).toBe(4)
  })

  it('stays below the limit and reaches every value', () => {
    const random = new RandomChoices(3)
    expect([...new Set(Array.from({ length: 200 }, () => random.below(5)))].sort()).toEqual([0, 1, 2, 3, 4])
    expect([0, 100].map((percent) => random.chance(percent))).toEqual([false, true])
  })
})
