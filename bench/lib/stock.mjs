/** Results of the stock server with the same generator on a 2-core machine, from ../shared/bench/README.md. */

const operations = (value) => ({ value, unit: '/s', of: (row) => row.ops_per_s })
const list = (value) => ({ value, unit: 'ms', lessIsBetter: true, of: (row) => row.p50_ms })

/** Keyed by workload, without the number of clients for single rows. */
export const stockFigures = {
  ready: { value: 2300, unit: 'ms', lessIsBetter: true, of: (row) => row.readyMs },
  'create c=1': operations(560),
  'create c=32': operations(1100),
  get: operations(3000),
  list: list(84),
  'list ?resourceVersion=0': list(68),
  'list ?limit=500': list(7.8),
  'list ?labelSelector=shard%3Ds3': list(12.8),
  update: operations(1850),
  mergepatch: operations(1700),
  'apply create': operations(830),
  'apply change': operations(570),
  'apply same': operations(630),
  'watch fan-out 100x300': operations(80_000),
  memory: { value: 615, unit: 'MiB', lessIsBetter: true, of: (row) => row.extra.rss_mib },
}
