import { fakeClock } from '@krmkit/meta'
import type { RemoteSpace } from '@krmkit/storage'
import { expect, it } from 'vitest'
import { watchSpace } from './space-watch.ts'

const megabyte = 1_000_000
const remote = { commits: { bounds: [], counts: [], total: 0, sum: 0 }, failedCommits: 0 }

it('logs when etcd comes near its quota or reports a problem, and when that is over', () => {
  const clock = fakeClock()
  const lines: string[] = []
  const log = { info: (text: string) => void lines.push(text), error: (text: string) => void lines.push(`error: ${text}`) }
  let space: RemoteSpace | undefined
  const stats = () => ({
    history: { revisions: 0, bytes: 0 },
    remote: space === undefined ? remote : { ...remote, space },
  })
  const watch = watchSpace({ stats }, { dir: '/data', log, clock })
  const report = (reported: RemoteSpace) => {
    space = reported
    clock.advance(20_000)
  }
  const sizes = { fileBytes: 1700 * megabyte, usedBytes: 100 * megabyte, quotaBytes: 2000 * megabyte }
  report({ ...sizes, problems: [] })
  report({ ...sizes, problems: ['memberID:1 alarm:NOSPACE'] })
  report({ ...sizes, fileBytes: 100 * megabyte, problems: [] })
  report({ fileBytes: 9000 * megabyte, usedBytes: 1, problems: [] })
  expect(lines).toEqual([
    'error: etcd has 1700 MB of its quota of 2000 MB, 100 MB in use: when it is exhausted, writes are refused; raise it, or compact and defragment',
    'error: etcd reports a problem: memberID:1 alarm:NOSPACE',
    'etcd has 100 MB of its quota of 2000 MB, 100 MB in use',
    'etcd no longer reports: memberID:1 alarm:NOSPACE',
  ])
  watch[Symbol.dispose]()
  expect(clock.pending).toBe(0)
})
