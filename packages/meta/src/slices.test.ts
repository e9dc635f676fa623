import { describe, expect, it } from 'vitest'
import { createSliceScheduler, runAtOnce, runInSlices, runSyncOrInSlices, Slices } from './slices.ts'

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
    const scheduler = createSliceScheduler()
    const seen: string[] = []
    const jobs = ['a', 'b', 'c'].map((name) => scheduler.next().then(() => seen.push(name)))
    for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      await new Promise(setImmediate)
      expect(seen).toEqual(expected)
    }
    await Promise.all(jobs)
  })

  it('let the event loop run between slices', async () => {
    const scheduler = createSliceScheduler()
    const slices = new Slices(scheduler, { sliceMs: 1 })
    let turns = 0
    let working = true
    const watch = (): void => {
      turns++
      if (working) setImmediate(watch)
    }
    setImmediate(watch)
    for (let i = 0; i < 20; i++) {
      burn(1)
      if (slices.due(true)) await slices.next()
    }
    working = false
    expect(turns).toBeGreaterThanOrEqual(19)
  })

  it('yield the same result as a synchronous run', async () => {
    expect(runAtOnce(countTo(1000))).toBe(500_500)
    const scheduler = createSliceScheduler()
    expect(await runInSlices(countTo(1000), new Slices(scheduler, { sliceMs: 0 }))).toBe(500_500)
  })

  it('are not used for work that ends within the first slice', async () => {
    const scheduler = createSliceScheduler()
    expect(runSyncOrInSlices(countTo(10), scheduler)).toBe(55)
    const long = (function* (): Generator<true, string> {
      for (let i = 0; i < 3; i++) {
        burn(9)
        yield true
      }
      return 'done'
    })()
    const result = runSyncOrInSlices(long, scheduler)
    expect(result).toBeInstanceOf(Promise)
    expect(await result).toBe('done')
  })

  it('await promises of the work', async () => {
    const work = (function* (): Generator<unknown, unknown> {
      return [yield Promise.resolve(1), yield Promise.resolve(2)]
    })()
    expect(await runSyncOrInSlices(work, createSliceScheduler())).toEqual([1, 2])
    const failing = (function* (): Generator<unknown, never> {
      throw yield Promise.reject(new Error('broken'))
    })()
    await expect(runSyncOrInSlices(failing, createSliceScheduler())).rejects.toThrow('broken')
  })

  it('propagate errors of the work', async () => {
    const work = (function* (): Generator<void, never> {
      yield
      throw new Error('broken')
    })()
    await expect(runInSlices(work, new Slices(createSliceScheduler()))).rejects.toThrow('broken')
  })

  it('do not end before their time is used up', () => {
    const slices = new Slices(createSliceScheduler(), { sliceMs: 60_000 })
    expect(Array.from({ length: 100 }, () => slices.due())).not.toContain(true)
  })
})
