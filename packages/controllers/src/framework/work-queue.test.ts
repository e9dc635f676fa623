import { ApiError, fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { IdleTracker, yieldTurns } from './idle-tracker.ts'
import { type QueueRun, WorkQueue, type WorkQueueOptions } from './work-queue.ts'

function setup(sync: WorkQueueOptions<string>['sync'], workers?: number) {
  const clock = fakeClock()
  const idleTracker = new IdleTracker()
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const queue = new WorkQueue<string>({ sync, clock, idleTracker, onError, ...(workers === undefined ? {} : { workers }) })
  return { clock, idleTracker, errors, queue }
}

/** Work that ends when the test opens the gate. */
function gate() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

describe('WorkQueue', () => {
  it('processes a key once, however often it was added before', async () => {
    const seen: string[] = []
    const { queue, idleTracker } = setup(async (key) => {
      seen.push(key)
      return undefined
    })
    queue.add('a')
    queue.add('b')
    queue.add('a')
    await idleTracker.idle()
    expect(seen).toEqual(['a', 'b'])
  })

  it('never processes a key concurrently, and processes it once more when added meanwhile', async () => {
    const { opened, open } = gate()
    let running = 0
    let most = 0
    let times = 0
    const { queue, idleTracker } = setup(async () => {
      running++
      times++
      most = Math.max(most, running)
      await opened
      running--
      return undefined
    })
    queue.add('a')
    await yieldTurns(1)
    queue.add('a')
    queue.add('a')
    await yieldTurns(1)
    expect(times).toBe(1)
    open()
    await idleTracker.idle()
    expect({ times, most }).toEqual({ times: 2, most: 1 })
  })

  it('limits concurrency to the number of workers', async () => {
    let running = 0
    let most = 0
    const { queue, idleTracker } = setup(async () => {
      most = Math.max(most, ++running)
      await yieldTurns(1)
      running--
      return undefined
    }, 3)
    for (let i = 0; i < 20; i++) queue.add(String(i))
    await idleTracker.idle()
    expect(most).toBe(3)
  })

  it('retries with exponential backoff, reset by success', async () => {
    const at: number[] = []
    let failing = true
    const { queue, idleTracker, clock, errors } = setup(async () => {
      at.push(clock.now())
      if (failing) throw new Error('no')
      return undefined
    })
    queue.add('a')
    await idleTracker.idle()
    for (let i = 0; i < 3; i++) {
      clock.advanceTo(clock.nextAt!)
      await idleTracker.idle()
    }
    expect(at).toEqual([0, 5, 15, 35])
    expect(errors).toHaveLength(4)
    failing = false
    clock.advanceTo(clock.nextAt!)
    await idleTracker.idle()
    failing = true
    queue.add('a')
    await idleTracker.idle()
    expect(clock.nextAt! - clock.now()).toBe(5)
  })

  it('limits the backoff to 1000 seconds', async () => {
    const { queue, idleTracker, clock } = setup(async () => {
      throw new Error('never')
    })
    queue.add('a')
    await idleTracker.idle()
    for (let i = 0; i < 40; i++) {
      expect(clock.nextAt! - clock.now()).toBeLessThanOrEqual(1_000_000)
      clock.advanceTo(clock.nextAt!)
      await idleTracker.idle()
    }
    expect(clock.nextAt! - clock.now()).toBe(1_000_000)
  })

  it('retries the first conflict immediately', async () => {
    let tries = 0
    const { queue, idleTracker, clock, errors } = setup(async () => {
      tries++
      throw ApiError.conflict({ group: '', resource: 'pods' }, 'a', 'changed')
    })
    queue.add('a')
    await idleTracker.idle()
    expect({ tries, errors: errors.length, waits: clock.pending }).toEqual({ tries: 2, errors: 1, waits: 1 })
  })

  it('requeues after the requested delay; the earliest of several requests counts', async () => {
    let times = 0
    const { queue, idleTracker, clock } = setup(async () => (++times === 1 ? { requeueAfterMs: 100 } : undefined))
    queue.add('a')
    await idleTracker.idle()
    queue.addAfter('a', 500)
    expect(clock.pending).toBe(1)
    clock.advance(99)
    await idleTracker.idle()
    expect(times).toBe(1)
    clock.advance(1)
    await idleTracker.idle()
    expect({ times, waits: clock.pending }).toEqual({ times: 2, waits: 0 })
  })

  it('drops queued keys when disposed and waits for running ones', async () => {
    const { opened, open } = gate()
    const seen: string[] = []
    const { queue, idleTracker, clock } = setup(async (key) => {
      await opened
      seen.push(key)
      return undefined
    }, 1)
    queue.add('a')
    queue.add('b')
    queue.addAfter('c', 10)
    await yieldTurns(1)
    const ended = queue[Symbol.asyncDispose]()
    queue.add('d')
    queue.addAfter('e', 1)
    open()
    await ended
    expect(seen).toEqual(['a'])
    expect(clock.pending).toBe(0)
    expect(idleTracker.isIdle).toBe(true)
  })

  it('yields to the event loop under load', async () => {
    let others = 0
    let isDone = false
    const { queue, idleTracker } = setup(async () => undefined)
    for (let i = 0; i < 1000; i++) queue.add(String(i))
    const other = () => {
      others++
      if (!isDone) setImmediate(other)
    }
    setImmediate(other)
    await idleTracker.idle()
    isDone = true
    expect(others).toBeGreaterThan(3)
  })

  it('respects the rate limit: a burst, then a rate per second', async () => {
    const clock = fakeClock()
    const seen: string[] = []
    const sync = async (key: string) => {
      seen.push(key)
      return undefined
    }
    const rateLimit = { perSecond: 10, burst: 3 }
    const queue = new WorkQueue<string>({ sync, clock, idleTracker: new IdleTracker(), onError: () => undefined, rateLimit })
    for (let i = 0; i < 10; i++) queue.add(`k${i}`)
    await yieldTurns(3)
    expect(seen).toHaveLength(3)
    clock.advance(99)
    await yieldTurns(3)
    expect(seen).toHaveLength(3)
    clock.advance(1)
    await yieldTurns(3)
    expect(seen).toHaveLength(4)
    for (let step = 0; step < 6; step++) {
      clock.advance(100)
      await yieldTurns(3)
    }
    expect(seen).toHaveLength(10)
    clock.advance(60_000)
    for (let i = 0; i < 10; i++) queue.add(`l${i}`)
    await yieldTurns(3)
    expect(seen).toHaveLength(13)
    await queue[Symbol.asyncDispose]()
    clock.advance(60_000)
    await yieldTurns(3)
    expect(seen).toHaveLength(13)
  })

  it('reports runs with their times and outcomes', async () => {
    const clock = fakeClock(1000)
    const idleTracker = new IdleTracker()
    const runs: QueueRun[] = []
    const failure = new Error('no')
    const sync = async ({ name }: { readonly name: string }) => {
      if (name === 'slow') clock.advance(500)
      if (name === 'fails') throw failure
      return name === 'again' ? { requeueAfterMs: 2000 } : undefined
    }
    const onRun = (run: QueueRun) => void runs.push(run)
    const queue = new WorkQueue({ sync, clock, idleTracker, onRun, workers: 1, onError: () => undefined })
    for (const name of ['slow', 'again', 'fails']) queue.add({ name })
    await idleTracker.idle()
    const durationMs = expect.any(Number)
    expect(runs).toEqual([
      { key: '{"name":"slow"}', startMs: 1000, endMs: 1500, durationMs, outcome: 'done' },
      { key: '{"name":"again"}', startMs: 1500, endMs: 1500, durationMs, outcome: 'requeued', requeueAfterMs: 2000 },
      { key: '{"name":"fails"}', startMs: 1500, endMs: 1500, durationMs, outcome: 'failed', error: failure },
    ])
    await queue[Symbol.asyncDispose]()
  })
})
