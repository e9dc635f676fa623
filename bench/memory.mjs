#!/usr/bin/env node
// `npm run bench:memory -- [--n 20000] [--storage durable|memory] [--node-flags ...]`: memory of the server when it is empty, after the run of
// ../shared/bench and after a restart, and what is kept for one object and for one past revision. Linux only.
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { buildGenerator, generate } from './lib/generator.mjs'
import { caller } from './lib/https-load.mjs'
import { collectedFigures, measured, memoryFigures } from './lib/memory-figures.mjs'
import { saveResults } from './lib/results.mjs'
import { startServer, token } from './lib/server-process.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const { values: flags } = parseArgs({
  options: {
    storage: { type: 'string', default: 'durable' },
    n: { type: 'string', default: '20000' },
    'node-flags': { type: 'string', default: '' },
  },
})
const { storage } = flags
const objects = Number(flags.n)
/** Time after which an idle server has given memory back. */
const idleMs = 15_000
const nodeFlags = [...measured, ...flags['node-flags'].split(' ').filter((flag) => flag !== '')]

if (!buildGenerator('bench:memory')) process.exit(0)
const kept = await measureKept()
const states = await measureRun()
report()

/** Creates objects and updates each once; differences after full collections tell what one object and one revision take. */
async function measureKept() {
  const server = await startServer({ storage, nodeFlags })
  try {
    const empty = await collectedFigures(server.pid)
    await drive(server, ['-only', 'create'])
    const created = await collectedFigures(server.pid)
    await drive(server, ['-only', 'update'])
    const updated = await collectedFigures(server.pid)
    const { call, close } = caller(server.url, 1)
    const json = (await call('GET', '/api/v1/namespaces/bench/configmaps/cm-000001')).length
    close()
    return {
      json,
      object: difference(empty, created, objects * 1.1),
      revision: difference(created, updated, objects),
    }
  } finally {
    await server.stop()
    server.removeData()
  }
}

/** The whole run of the generator, then a restart with its data. */
async function measureRun() {
  let server = await startServer({ storage, nodeFlags })
  const measuredStates = {}
  try {
    measuredStates['just started'] = await memoryFigures(server.pid)
    await setTimeout(idleMs)
    measuredStates['empty, idle'] = await memoryFigures(server.pid)
    const cpuBefore = server.cpuSeconds()
    await drive(server, [])
    const cpuSeconds = server.cpuSeconds() - cpuBefore
    measuredStates['after the run'] = await memoryFigures(server.pid)
    await setTimeout(idleMs)
    measuredStates['after the run, idle'] = await memoryFigures(server.pid)
    measuredStates['after a full collection'] = await collectedFigures(server.pid)
    let restart
    if (storage === 'durable') {
      await server.stop('SIGKILL')
      server = await startServer({ storage, dir: server.dir, nodeFlags })
      restart = { readyMs: server.readyMs, cpuSeconds: server.cpuSeconds() }
      measuredStates['after a restart'] = await memoryFigures(server.pid)
    }
    return { measuredStates, cpuSeconds, restart }
  } finally {
    await server.stop()
    server.removeData()
  }
}

async function drive({ url, pid }, args) {
  for await (const row of generate(['-server', url, '-token', token, '-n', flags.n, '-pids', String(pid), ...args])) {
    if (row.errors > 0) throw new Error(`${row.workload}: ${row.errors} errors: ${row.first_error}`)
    process.stderr.write(`${row.workload}\n`)
  }
}

/** Bytes for each of `count` steps. */
function difference(before, after, count) {
  const bytes = (name) => Math.round(((after[name] - before[name]) * 2 ** 20) / count)
  return { heap: bytes('heap'), buffers: bytes('buffers'), anonymous: bytes('anonymous'), map: bytes('map') }
}

function report() {
  const { measuredStates, cpuSeconds, restart } = states
  const columns = ['resident', 'anonymous', 'map', 'files', 'heap', 'committed', 'young', 'buffers']
  const rows = Object.entries(measuredStates).map(([name, state]) => [name, ...columns.map((column) => figure(state[column]))])
  console.log(`\nMiB, ${storage}, ${figure(objects)} objects\n`)
  console.log(markdownTable(['state', ...columns], rows))
  console.log(`\nbytes kept; the object has ${kept.json} bytes of JSON\n`)
  const keptColumns = ['heap', 'buffers', 'anonymous', 'map']
  const keptRow = (name, of) => [name, ...keptColumns.map((column) => figure(of[column]))]
  console.log(
    markdownTable(['kept for', ...keptColumns], [keptRow('an object', kept.object), keptRow('a past revision', kept.revision)]),
  )
  console.log(`\nprocessor time of the run: ${figure(cpuSeconds)} s`)
  if (restart !== undefined)
    console.log(`ready again: ${figure(restart.readyMs)} ms, ${figure(restart.cpuSeconds)} s of processor time`)
  saveResults('memory', { objects, storage, kept, ...states })
}
