#!/usr/bin/env node
// `npm run bench [-- --quick]`: parts, the server without sockets, and the server over TLS in a process of its own.
// Prints tables, writes bench/results/bench.json and (without --quick) docs/performance.md.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { fieldManagerSections } from './lib/fieldmanager-tables.mjs'
import { caller, fanOut, throughput } from './lib/https-load.mjs'
import { bundleInside, runInside } from './lib/inside.mjs'
import { machine, saveResults } from './lib/results.mjs'
import { startServer } from './lib/server-process.mjs'
import { factor, figure, markdownTable } from './lib/table.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const objects = flags.quick ? 300 : 10_000
const watchers = flags.quick ? 10 : 100
const events = flags.quick ? 30 : 300

const inside = await measureInside()
const outside = { memory: await measureOutside('memory'), durable: await measureOutside('durable') }
report()

async function measureInside() {
  const program = await bundleInside('main', 'inside')
  process.stderr.write('measuring parts and the server without sockets\n')
  return runInside(program, { args: flags.quick ? ['--quick'] : [] })
}

async function measureOutside(storage) {
  process.stderr.write(`measuring the ${storage} server over TLS\n`)
  let server = await startServer({ storage })
  const readyMs = server.readyMs
  const idleMiB = server.rssMiB()
  const collection = '/api/v1/namespaces/bench/configmaps'
  const body = (name, i) =>
    JSON.stringify({
      metadata: { name, labels: { shard: `s${i % 10}` } },
      data: { v: String(i), payload: '0123456789abcdef'.repeat(64) },
    })
  let figures
  try {
    const { call, close } = caller(server.url, 32)
    await call('POST', '/api/v1/namespaces', JSON.stringify({ metadata: { name: 'bench' } }))
    const one = await throughput(objects / 10, 1, (i) => call('POST', collection, body(`one-${i}`, i)))
    const many = await throughput(objects, 32, (i) => call('POST', collection, body(`cm-${i}`, i)))
    const filledMiB = server.rssMiB()
    const get = await throughput(objects * 2, 32, (i) => call('GET', `${collection}/cm-${(i * 7919) % objects}`))
    const lists = await throughput(10, 1, () => call('GET', collection))
    const chunks = await throughput(20, 1, () => call('GET', `${collection}?limit=500`))
    const labels = await throughput(10, 1, () => call('GET', `${collection}?labelSelector=shard%3Ds3`))
    const deliveries = await fanOut({ url: server.url, call, collection, body: (i) => body(`ev-${i}`, i), watchers, events })
    close()
    figures = {
      readyMs,
      idleMiB,
      one,
      many,
      get,
      listMs: 1000 / lists,
      chunkMs: 1000 / chunks,
      labelMs: 1000 / labels,
      deliveries,
      filledMiB,
      endMiB: server.rssMiB(),
    }
    if (storage === 'durable') {
      await server.stop('SIGKILL')
      server = await startServer({ storage, dir: server.dir })
      figures.readyFilledMs = server.readyMs
    }
    return figures
  } finally {
    await server.stop()
    server.removeData()
  }
}

function report() {
  const sections = [
    [
      'Parts, in one process',
      ['part', 'µs', 'per second', 'of the row above'],
      inside.parts.map(({ name, microseconds, perSecond, ratio }) => [
        name,
        figure(microseconds),
        figure(perSecond),
        factor(ratio),
      ]),
    ],
    ...fieldManagerSections(inside.fields),
    [
      'The server without sockets, one request at a time',
      ['request', 'µs', 'per second'],
      inside.server.map(({ name, microseconds, perSecond }) => [name, figure(microseconds), figure(perSecond)]),
    ],
    ['The server over TLS, HTTP/1.1, load from another process', ['figure', 'memory', 'durable'], outsideRows()],
  ]
  const text = sections.map(([title, head, rows]) => `## ${title}\n\n${markdownTable(head, rows)}`).join('\n')
  process.stdout.write(`${text}\n`)
  saveResults(flags.quick ? 'quick' : 'bench', { inside, outside })
  if (flags.quick) return
  const { date, cpu, memoryGiB, node } = machine()
  const about = `Made by \`npm run bench\` on ${date}: ${cpu}, ${memoryGiB} GiB, Node ${node}. Machines are noisy: compare figures of one run.`
  writeFileSync(join(root, 'docs/performance.md'), `# Performance\n\n${about}\n\n${text}`)
}

function outsideRows() {
  const row = (name, of, unit = '') => [name, figure(of(outside.memory), unit), figure(of(outside.durable), unit)]
  return [
    row('ready, empty', (f) => f.readyMs, 'ms'),
    row(`ready again with ${figure(objects)} objects`, (f) => f.readyFilledMs, 'ms'),
    row('create, 1 client', (f) => f.one, '/s'),
    row('create, 32 clients', (f) => f.many, '/s'),
    row('get, 32 clients', (f) => f.get, '/s'),
    row(`list of ${figure(objects * 1.1)}`, (f) => f.listMs, 'ms'),
    row('list, limit 500', (f) => f.chunkMs, 'ms'),
    row('list by label, a tenth', (f) => f.labelMs, 'ms'),
    row(`deliveries to ${watchers} watchers`, (f) => f.deliveries, '/s'),
    row('resident, idle', (f) => f.idleMiB, 'MiB'),
    row('resident, after the creates', (f) => f.filledMiB, 'MiB'),
    row('resident for each 10 000 objects', (f) => ((f.filledMiB - f.idleMiB) / (objects * 1.1)) * 10_000, 'MiB'),
    row('resident, at the end', (f) => f.endMiB, 'MiB'),
  ]
}
