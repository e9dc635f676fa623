import { memoryStorage, type RemoteSpace } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { storageMetrics } from './storage-metrics.ts'

const samplesOf = (storage: Parameters<typeof storageMetrics>[0]) =>
  storageMetrics(storage).flatMap((metric) =>
    [...metric.samples()].map(({ name = metric.name, labels, le, value }) => {
      expect(labels.storage_cluster_id).toBe('krmkit-0')
      return [le === undefined ? name : `${name} ${le}`, value]
    }),
  )

describe('metrics of the storage', () => {
  it('are the history of a store in memory', async () => {
    const storage = memoryStorage()
    await storage.put('/a', () => new Uint8Array(100))
    await storage.put('/a', () => new Uint8Array(100))
    expect(samplesOf(storage)).toEqual([
      ['apiserver_storage_history_revisions', 2],
      ['apiserver_storage_history_bytes', expect.any(Number)],
    ])
    expect(samplesOf({})).toEqual([])
  })

  it('are the sizes and flushes of a durable store', () => {
    const commits = { bounds: [0.001, 0.002], counts: [3, 1], total: 5, sum: 2.5 }
    const journal = { fileBytes: 100, usedBytes: 60, diskAvailableBytes: 1000, commits, failedCommits: 2 }
    expect(samplesOf({ stats: () => ({ history: { revisions: 1, bytes: 2 }, journal }) }).slice(2)).toEqual([
      ['apiserver_storage_size_bytes', 100],
      ['apiserver_storage_used_bytes', 60],
      ['apiserver_storage_disk_available_bytes', 1000],
      ['apiserver_storage_commit_duration_seconds_bucket 0.001', 3],
      ['apiserver_storage_commit_duration_seconds_bucket 0.002', 4],
      ['apiserver_storage_commit_duration_seconds_bucket +Inf', 5],
      ['apiserver_storage_commit_duration_seconds_sum', 2.5],
      ['apiserver_storage_commit_duration_seconds_count', 5],
      ['apiserver_storage_commit_failures_total', 2],
    ])
  })

  it('are the responses and the reported space of a store that another one mirrors', () => {
    const commits = { bounds: [0.001], counts: [3], total: 5, sum: 2.5 }
    const remote = { commits, failedCommits: 2 }
    const history = { revisions: 1, bytes: 2 }
    const answers = [
      ['apiserver_storage_commit_duration_seconds_bucket 0.001', 3],
      ['apiserver_storage_commit_duration_seconds_bucket +Inf', 5],
      ['apiserver_storage_commit_duration_seconds_sum', 2.5],
      ['apiserver_storage_commit_duration_seconds_count', 5],
      ['apiserver_storage_commit_failures_total', 2],
    ]
    const sampled = (space?: RemoteSpace) =>
      samplesOf({ stats: () => ({ history, remote: space === undefined ? remote : { ...remote, space } }) }).slice(2)
    expect(sampled()).toEqual(answers)
    const space = { fileBytes: 100, usedBytes: 60, problems: ['NOSPACE'] }
    const sizes = [
      ['apiserver_storage_size_bytes', 100],
      ['apiserver_storage_used_bytes', 60],
    ]
    expect(sampled(space)).toEqual([...sizes, ['apiserver_storage_problems', 1], ...answers])
    const quota = ['apiserver_storage_quota_bytes', 200]
    expect(sampled({ ...space, quotaBytes: 200 })).toEqual([...sizes, quota, ['apiserver_storage_problems', 1], ...answers])
  })
})
