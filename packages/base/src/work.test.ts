import { describe, expect, it } from 'vitest'
import { deepFreeze } from './freeze.direct.ts'
import * as paced from './freeze.ts'
import { createTurns, Pace, paceOf, runAtOnce, runPaced, startWork, type Work, whenDone } from './work.ts'

function* countTo(limit: number): Generator<void, number> {
  let sum = 0
  for (let i = 1; i <= limit; i++) {
    sum += i
    yield
  }
  return sum
}

function burn(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

describe('slices', () => {
  it('resume one waiting job per turn of the event loop, in order', async () => {
    const turns = createTurns()
    const seen: string[] = []
    const jobs = ['a', 'b', 'c'].map((name) => turns.next().then(() => seen.push(name)))
    for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      await new Promise(setImmediate)
      expect(seen).toEqual(expected)
    }
    await Promise.all(jobs)
  })

  it('let the event loop run between slices', async () => {
    const turns = createTurns()
    const pace = new Pace(turns, { sliceMs: 1 })
    let count = 0
    let working = true
    const watch = (): void => {
      count++
      if (working) setImmediate(watch)
    }
    setImmediate(watch)
    for (let i = 0; i < 20; i++) {
      burn(1)
      if (pace.due(true)) await pace.next()
    }
    working = false
    expect(count).toBeGreaterThanOrEqual(19)
  })

  it('yield the same result as a synchronous run', async () => {
    expect(runAtOnce(countTo(1000))).toBe(500_500)
    const turns = createTurns()
    expect(await runPaced(countTo(1000), new Pace(turns, { sliceMs: 0 }))).toBe(500_500)
  })

  it('are not used for work that ends within the first slice', async () => {
    const turns = createTurns()
    expect(startWork(countTo(10), turns)).toBe(55)
    const long = (function* (): Generator<true, string> {
      for (let i = 0; i < 3; i++) {
        burn(9)
        yield true
      }
      return 'done'
    })()
    const result = startWork(long, turns)
    expect(result).toBeInstanceOf(Promise)
    expect(await result).toBe('done')
  })

  it('await promises of the work', async () => {
    const work = (function* (): Work<unknown> {
      return [yield Promise.resolve(1), yield Promise.resolve(2)]
    })()
    expect(await startWork(work, createTurns())).toEqual([1, 2])
    const failing = (function* (): Work<never> {
      throw yield Promise.reject(new Error('broken'))
    })()
    await expect(startWork(failing, createTurns())).rejects.toThrow('broken')
  })

  it('propagate errors of the work', async () => {
    const work = (function* (): Generator<void, never> {
      yield
      throw new Error('broken')
    })()
    await expect(runPaced(work, new Pace(createTurns()))).rejects.toThrow('broken')
  })

  it('last until their time is used up', () => {
    const pace = new Pace(createTurns(), { sliceMs: 60_000 })
    expect(Array.from({ length: 100 }, () => pace.due())).not.toContain(true)
  })
})

/** Counts the used turns. */
function countedTurns() {
  const turns = createTurns()
  let taken = 0
  const next = () => {
    taken++
    return turns.next()
  }
  return { turns: { next }, taken: () => taken }
}

describe('the pace of an object', () => {
  const small = { data: { color: 'red' } }
  const large = { data: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, 'v'])) }

  it('runs work on a small object at once', () => {
    const { turns, taken } = countedTurns()
    const pace = paceOf(turns, small)
    expect(pace.isSliced).toBe(false)
    expect(pace.run(countTo(10))).toBe(55)
    expect(pace.due(true)).toBe(false)
    expect(taken()).toBe(0)
  })

  it('slices work on a small object that takes longer than one slice', async () => {
    const { turns, taken } = countedTurns()
    const pace = paceOf(turns, small)
    const slow = function* (): Work<string> {
      for (let i = 0; i < 3; i++) {
        burn(9)
        yield true
      }
      return 'done'
    }
    expect(await pace.run(slow())).toBe('done')
    expect(taken()).toBeGreaterThan(0)
    await pace.next()
    expect(pace.isSliced).toBe(false)
  })

  it('begins each part of the work on a large object in a new slice', async () => {
    const { turns, taken } = countedTurns()
    const pace = paceOf(turns, large)
    expect(pace.isSliced).toBe(true)
    expect(await pace.run(countTo(10))).toBe(55)
    expect(await pace.run(countTo(10))).toBe(55)
    await pace.next()
    expect(taken()).toBe(3)
  })

  it('adapts to the changed object, and stays sliced', () => {
    const { turns } = countedTurns()
    const pace = paceOf(turns, small)
    expect(pace.for(small).isSliced).toBe(false)
    expect(pace.for(large).isSliced).toBe(true)
    expect(paceOf(turns, large).for(small).isSliced).toBe(true)
  })
})

describe('whenDone', () => {
  it('is synchronous for a value that is not a promise', async () => {
    expect(whenDone(1, (value) => value + 1)).toBe(2)
    const later = whenDone(Promise.resolve(1), (value) => value + 1)
    expect(later).toBeInstanceOf(Promise)
    expect(await later).toBe(2)
  })
})

it.each([deepFreeze, (value: object) => runAtOnce(paced.deepFreeze(value))])('freezes every level', (freeze) => {
  const value = { list: [{ a: {} }], text: 'b' }
  expect(freeze(value)).toBe(value)
  expect([value, value.list, value.list[0], value.list[0]?.a].every(Object.isFrozen)).toBe(true)
})
