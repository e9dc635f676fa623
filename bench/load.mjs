#!/usr/bin/env node
// `npm run bench:load -- [--storage memory|durable|both] [--n 5000] [--only create,list] [--prof]`: runs the load generator of
// ../shared/bench against the server and compares the results with the stock server.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { saveResults } from './lib/results.mjs'
import { startServer, token } from './lib/server-process.mjs'
import { stockFigures } from './lib/stock.mjs'
import { factor, figure, markdownTable } from './lib/table.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const generatorSource = join(root, '../shared/bench')
const generator = join(root, 'bench/dist/load')

const { values: flags } = parseArgs({
  options: {
    storage: { type: 'string', default: 'both' },
    n: { type: 'string', default: '5000' },
    only: { type: 'string', default: '' },
    http2: { type: 'boolean', default: false },
    prof: { type: 'boolean', default: false },
    'node-flags': { type: 'string', default: '' },
  },
})

if (!buildGenerator()) process.exit(0)
const modes = flags.storage === 'both' ? ['memory', 'durable'] : [flags.storage]
const results = {}
for (const storage of modes) results[storage] = await drive(storage)
for (const storage of modes) print(storage, results[storage])
saveResults('load', { objects: Number(flags.n), http: flags.http2 ? 2 : 1.1, ...results })

/** Whether the generator is available; prints the reason when it is not. */
function buildGenerator() {
  if (!existsSync(join(generatorSource, 'main.go'))) {
    console.log('bench:load skipped: no load generator at ../shared/bench')
    return false
  }
  mkdirSync(join(root, 'bench/dist'), { recursive: true })
  const { status, error, stderr } = spawnSync('go', ['build', '-o', generator, '.'], { cwd: generatorSource, encoding: 'utf8' })
  if (status === 0) return true
  console.log(`bench:load skipped: the load generator needs Go: ${error?.message ?? stderr}`)
  return false
}

async function drive(storage) {
  const nodeFlags = flags['node-flags'].split(' ').filter((flag) => flag !== '')
  if (flags.prof) nodeFlags.push('--cpu-prof', '--cpu-prof-dir', join(root, 'bench/dist/profiles'))
  const server = await startServer({ storage, nodeFlags })
  try {
    const rows = [{ workload: 'ready', readyMs: server.readyMs }]
    const args = ['-server', server.url, '-token', token, '-n', flags.n, '-pids', String(server.pid), `-http1=${!flags.http2}`]
    const child = spawn(generator, flags.only === '' ? args : [...args, '-only', flags.only], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let cpuBefore = server.cpuSeconds()
    for await (const line of createInterface(child.stdout)) {
      const row = JSON.parse(line)
      const cpu = server.cpuSeconds()
      rows.push({ ...row, workload: row.workload.trim(), serverCpuSeconds: cpu - cpuBefore })
      cpuBefore = cpu
    }
    const log = server.log()
    if (log !== '') console.error(log)
    return rows
  } finally {
    await server.stop()
    server.removeData()
  }
}

function print(storage, rows) {
  const table = rows.flatMap((row) => {
    const stock = stockFigures[row.workload.replace(/ +c=\d+$/, (clients) => (row.workload.startsWith('create') ? clients : ''))]
    if (stock === undefined) return []
    const ours = stock.of(row)
    const better = stock.lessIsBetter ? stock.value / ours : ours / stock.value
    const lag = row.p50_ms === undefined ? '–' : `${figure(row.p50_ms)} / ${figure(row.p99_ms)}`
    const faults = row.errors > 0 ? `${row.errors} errors: ${row.first_error}` : ''
    return [
      [
        row.workload,
        figure(ours, stock.unit),
        figure(stock.value, stock.unit),
        factor(better),
        lag,
        cpuPerOperation(row),
        faults,
      ],
    ]
  })
  console.log(`\n${storage}\n`)
  console.log(markdownTable(['workload', 'krmkit', 'stock', 'factor', 'p50 / p99 ms', 'server CPU', 'faults'], table))
}

/** CPU time of the server, which is comparable between runs on a shared machine. */
function cpuPerOperation({ workload, ops_per_s, serverCpuSeconds }) {
  const operations = operationsOf(workload)
  if (operations === undefined || ops_per_s === undefined || serverCpuSeconds === undefined) return '–'
  return `${figure((serverCpuSeconds / operations) * 1e6)} µs`
}

function operationsOf(workload) {
  const n = Number(flags.n)
  if (workload === 'create c=1') return n / 10
  if (workload.startsWith('get')) return n * 2
  if (workload.startsWith('list')) return 10
  if (workload.startsWith('apply')) return n / 4
  if (workload.startsWith('watch')) return 100 * 300
  return n
}
