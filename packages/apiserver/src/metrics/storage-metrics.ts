import type { JournalStats, RemoteSpace, RemoteStats, Storage, StorageStats } from '@krmkit/storage'
import { histogramSamples, type SampledMetric, sampledMetric } from './sampled-metric.ts'

/** The label by which kube-apiserver distinguishes stores; there is one store. */
const labels = { storage_cluster_id: 'krmkit-0' }

/** Sizes, durations and history of the store, read at each scrape. Empty for a storage without `stats`. */
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
  const { journal, remote } = first
  if (remote !== undefined) return [...metrics, ...remoteMetrics(() => read().remote ?? remote)]
  return journal === undefined ? metrics : [...metrics, ...journalMetrics(() => read().journal ?? journal)]
}

/** Metrics of a remote store, under the names of the metrics of a journal where both mean the same. */
function remoteMetrics(read: () => RemoteStats): SampledMetric[] {
  const space = (name: string, help: string, of: (space: RemoteSpace) => number | undefined) =>
    sampledMetric('gauge', [name, help], () => {
      const { space: reported } = read()
      const value = reported === undefined ? undefined : of(reported)
      return value === undefined ? [] : [{ labels, value }]
    })
  return [
    space('apiserver_storage_size_bytes', sizeHelp, ({ fileBytes }) => fileBytes),
    space('apiserver_storage_used_bytes', usedHelp, ({ usedBytes }) => usedBytes),
    space(
      'apiserver_storage_quota_bytes',
      'Size of the data file from which on writes are refused, in bytes.',
      ({ quotaBytes }) => quotaBytes,
    ),
    space('apiserver_storage_problems', 'Number of problems that the store reports, such as raised alarms.', ({ problems }) => {
      return problems.length
    }),
    ...commitMetrics(read, {
      duration: 'Time until the store answered a write, in seconds.',
      failures: 'Number of writes that the store refused or did not answer.',
    }),
  ]
}

const sizeHelp = 'Size of the data file in bytes.'
const usedHelp = 'Size of what is in use in the data file, in bytes.'

function journalMetrics(read: () => JournalStats): SampledMetric[] {
  const value = (name: string, help: string, of: (stats: JournalStats) => number) =>
    sampledMetric('gauge', [name, help], () => [{ labels, value: of(read()) }])
  return [
    value('apiserver_storage_size_bytes', sizeHelp, (stats) => stats.fileBytes),
    value('apiserver_storage_used_bytes', usedHelp, (stats) => stats.usedBytes),
    value(
      'apiserver_storage_disk_available_bytes',
      'Space left on the disk of the data file, in bytes.',
      (stats) => stats.diskAvailableBytes,
    ),
    ...commitMetrics(read, {
      duration: 'Time to flush writes to disk, in seconds.',
      failures: 'Number of flushes that failed, as on a full disk.',
    }),
  ]
}

function commitMetrics(
  read: () => Pick<JournalStats, 'commits' | 'failedCommits'>,
  help: { readonly duration: string; readonly failures: string },
): SampledMetric[] {
  const duration = 'apiserver_storage_commit_duration_seconds'
  return [
    sampledMetric('histogram', [duration, help.duration], () => histogramSamples(duration, labels, read().commits)),
    sampledMetric('counter', ['apiserver_storage_commit_failures_total', help.failures], () => [
      { labels, value: read().failedCommits },
    ]),
  ]
}
