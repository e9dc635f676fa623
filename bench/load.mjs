#!/usr/bin/env node
// `npm run bench:load -- [--storage durable] [--n 20000] [--rounds 1] [--only create,list] [--http2]`: the load generator of ../shared/bench
// against krmkit and, in turn, kube-apiserver that KRMKIT_ETCD and KRMKIT_KUBE_APISERVER name. Without --only it writes
// docs/reference/generated/performance/beside-stock.md, with a second run of few objects, where code is still cold.
import { parseArgs } from 'node:util'
import { comparedCells, comparedHead, measureBesideStock, missingPrograms } from './lib/beside-stock.mjs'
import { saveResults, writeReport } from './lib/results.mjs'
import { factor, figure, markdownTable } from './lib/table.mjs'

const { values: flags } = parseArgs({
  options: {
    storage: { type: 'string', default: 'durable' },
    n: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    http2: { type: 'boolean', default: false },
  },
})
const coldObjects = '2000'

const missing = missingPrograms('bench:load')
if (missing !== undefined) {
  console.log(`bench:load skipped: ${missing}`)
  process.exit(0)
}
const isWhole = flags.only === ''
const results = {}
const texts = []
for (const objects of isWhole ? [flags.n, coldObjects] : [flags.n]) {
  const args = [`-http1=${!flags.http2}`, ...(isWhole ? [] : ['-only', flags.only])]
  results[objects] = await measureBesideStock({ storage: flags.storage, objects, rounds: Number(flags.rounds), args })
  texts.push(textOf(objects, results[objects]))
}
const text = [introduction(), ...texts].join('\n')
console.log(text)
saveResults('load', { storage: flags.storage, http: flags.http2 ? 2 : 1.1, objects: results })
if (isWhole) writeReport('beside-stock', { title: 'Beside kube-apiserver', command: 'npm run bench:load', text })

function introduction() {
  return `krmkit with ${flags.storage} storage and kube-apiserver with an etcd of one member run in turn on this machine, which also runs the load
generator (HTTP/${flags.http2 ? '2' : '1.1'} over TLS). Nothing is warmed up. µs: processor time of all threads of the server for one operation, without that of
etcd; factors above 1 are in favour of krmkit.
`
}

function textOf(objects, rows) {
  const loads = rows.filter(({ krmkit }) => krmkit.perSecond > 0)
  const head = ['workload', ...comparedHead, 'krmkit p99 ms', 'stock p99 ms']
  const table = loads.map((row) => [row.workload, ...comparedCells(row), figure(row.krmkit.p99Ms), figure(row.stock.p99Ms)])
  const found = (name) => rows.find(({ workload }) => workload === name)
  const whole = [
    ['ready, ms', 'ready', 'readyMs'],
    ['resident when ready, MiB', 'ready', 'residentMiB'],
    ['resident after the run, MiB', 'memory', 'residentMiB'],
  ].map(([title, workload, member]) => {
    const { krmkit, stock } = found(workload)
    return [title, figure(krmkit[member]), figure(stock[member]), factor(stock[member] / krmkit[member])]
  })
  return `## ${figure(Number(objects))} objects

${markdownTable(head, table)}
${markdownTable(['process', 'krmkit', 'stock', 'factor'], whole)}`
}
