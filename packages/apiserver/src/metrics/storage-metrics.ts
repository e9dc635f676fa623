import type { JournalStats, Storage, StorageStats } from '@krmkit/storage'
import { histogramSamples, type SampledMetric, sampledMetric } from './sampled-metric.ts'

/** The label of the stock server, for its first store. */
const labels = { storage_cluster_id: 'krmkit-0' }

/** Sizes, durations and history of the store, read when the metrics are. None for a store without figures. */
export function storageMetrics(storage: Pick<Storage, 'stats'>): SampledMetric[] {
  const first = storage.stats?.()
  if (first === undefined) return []
  const read = (): StorageStats => storage.stats?.() ?? first
  const gauge = (name: string, help: string, value: (stats: StorageStats) => number) =>
    sampledMetric('gauge', [name, help], () => [{ labels, value: value(read()) }])
  const metrics = [
    gauge(
      'apiserver_storage_history_revisions',
      'Number of superseded revisions that can be read.',
      ({ history }) => history.revisions,
    ),
    gauge(
      'apiserver_storage_history_bytes',
      'Size of superseded values that can be read, in bytes.',
      ({ history }) => history.bytes,
    ),
  ]
  const { journal } = first
  return journal === undefined ? metrics : [...metrics, ...journalMetrics(() => read().journal ?? journal)]
}

function journalMetrics(read: () => JournalStats): SampledMetric[] {
  const duration = 'apiserver_storage_commit_duration_seconds'
  const value = (name: string, help: string, of: (stats: JournalStats) => number, type: 'gauge' | 'counter' = 'gauge') =>
    sampledMetric(type, [name, help], () => [{ labels, value: of(read()) }])
  return [
    value('apiserver_storage_size_bytes', 'Size of the data file in bytes.', (stats) => stats.fileBytes),
    value('apiserver_storage_used_bytes', 'Size of what is in use in the data file, in bytes.', (stats) => stats.usedBytes),
    value(
      'apiserver_storage_disk_available_bytes',
      'Space left on the disk of the data file, in bytes.',
      (stats) => stats.diskAvailableBytes,
    ),
    sampledMetric('histogram', [duration, 'Time to flush writes to disk, in seconds.'], () =>
      histogramSamples(duration, labels, read().commits),
    ),
    value(
      'apiserver_storage_commit_failures_total',
      'Number of flushes that failed, as on a full disk.',
      (stats) => stats.failedCommits,
      'counter',
    ),
  ]
}
