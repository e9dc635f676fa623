import { fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { watchSpace } from './space-watch.ts'

const megabyte = 1_000_000
const commits = { bounds: [], counts: [], total: 0, sum: 0 }

describe('the space on the disk of a store', () => {
  it('is logged when little is left, and when there is more again', () => {
    const clock = fakeClock()
    const lines: string[] = []
    const log = { info: (text: string) => void lines.push(text), error: (text: string) => void lines.push(`error: ${text}`) }
    let diskAvailableBytes = 500 * megabyte
    let fileBytes = 10 * megabyte
    const stats = () => ({
      history: { revisions: 0, bytes: 0 },
      journal: { fileBytes, usedBytes: 0, diskAvailableBytes, commits, failedCommits: 0 },
    })
    const watch = watchSpace({ stats }, { dir: '/data', log, clock })
    diskAvailableBytes = 50 * megabyte
    clock.advance(30_000)
    diskAvailableBytes = 900 * megabyte
    clock.advance(30_000)
    fileBytes = 9001 * megabyte
    clock.advance(10_000)
    expect(lines).toEqual([
      'error: 50 MB left on the disk of /data: when it is full, writes are refused until there is space again',
      '900 MB left on the disk of /data',
      'error: 900 MB left on the disk of /data: when it is full, writes are refused until there is space again',
    ])
    watch[Symbol.dispose]()
    expect(clock.pending).toBe(0)
  })

  it('is given back by the data file once half of it is free, and later after a failure', async () => {
    const clock = fakeClock()
    const lines: string[] = []
    const log = { info: (text: string) => void lines.push(text), error: (text: string) => void lines.push(`error: ${text}`) }
    let fileBytes = 190 * megabyte
    let attempts = 0
    const stats = () => ({
      history: { revisions: 0, bytes: 0 },
      journal: { fileBytes, usedBytes: 100 * megabyte, diskAvailableBytes: 900 * megabyte, commits, failedCommits: 0 },
    })
    const defragment = async () => {
      if (++attempts === 1) throw new Error('no space')
      fileBytes = 100 * megabyte
    }
    const watch = watchSpace({ stats, defragment }, { dir: '/data', log, clock })
    const later = async (ms: number) => {
      clock.advance(ms)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await later(10_000)
    expect(attempts).toBe(0)
    fileBytes = 250 * megabyte
    await later(20_000)
    expect(attempts).toBe(1)
    await later(9 * 60_000)
    expect(attempts).toBe(1)
    await later(60_000)
    await later(10_000)
    expect([attempts, lines]).toEqual([
      2,
      [
        'error: the free space of the data file in /data could not be given back',
        'the data file in /data has 100 MB, after 250 MB',
      ],
    ])
    watch[Symbol.dispose]()
  })

  it('is not watched for a store without a journal', () => {
    const clock = fakeClock()
    watchSpace({}, { dir: '/data', log: { info: () => undefined, error: () => undefined }, clock })
    expect(clock.pending).toBe(0)
  })
})
