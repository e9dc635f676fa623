#!/usr/bin/env node
// `npm run bench:storage -- [--quick] [--only puts,open,etcd] [--n 2000] [--rounds 2]`: the embedded store beside the library it is made of,
// its start and memory by number of objects, and krmkit beside kube-apiserver, each on an etcd of one member. The last part needs the
// programs that KRMKIT_ETCD and KRMKIT_KUBE_APISERVER name. Writes docs/reference/generated/performance/storage.md (without --quick and --only).
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { comparedCells, comparedHead, measureBesideStock, missingPrograms } from './lib/beside-stock.mjs'
import { bundleInside, runInside } from './lib/inside.mjs'
import { saveResults, writeReport } from './lib/results.mjs'
import { factor, figure, markdownTable } from './lib/table.mjs'

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    n: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '2' },
  },
})
const isWanted = (part) => flags.only === '' || flags.only.split(',').includes(part)
const rounds = flags.quick ? 1 : Number(flags.rounds)
const objects = flags.quick ? '200' : flags.n
const sizes = flags.quick ? [200] : [1000, 10_000, 100_000]
// The bundle finds the optional packages of storage.
const folder = 'packages/storage/node_modules/.cache/bench'
const inside = isWanted('puts') || isWanted('open') ? await bundleInside('storage-main', { folder }) : undefined

const results = {}
const texts = []
if (isWanted('puts')) addPart('puts', measurePuts(), putsText)
if (isWanted('open')) addPart('open', sizes.map(measureOpening), openText)
if (isWanted('etcd')) {
  const missing = missingPrograms('bench:storage')
  if (missing !== undefined) console.log(`bench:storage: etcd skipped: ${missing}`)
  else addPart('etcd', await measureBesideStock({ storage: 'etcd', objects, rounds, warm: true }), etcdText)
}
const about = `Rates depend on what else the machine does, and vary several times over on a shared one; processor time hardly does.\n`
const text = [about, ...texts].join('\n')
console.log(text)
saveResults('storage', results)
if (!flags.quick && flags.only === '') writeReport('storage', { title: 'Storage', command: 'npm run bench:storage', text })

function addPart(name, figures, textOf) {
  results[name] = figures
  texts.push(textOf(figures))
}

/** Runs a measurement on a new data folder. */
function withFolder(run) {
  const dir = mkdtempSync(join(tmpdir(), 'krmkit-bench-'))
  try {
    return run(join(dir, 'data'))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The best of the rounds, in each of which both stores run in turn. */
function measurePuts() {
  const rows = []
  for (const writers of [1, 32, 256]) {
    const count = String(flags.quick ? 50 * writers : writers === 1 ? 1000 : 20_000)
    const found = { krmkit: [], lmdb: [] }
    for (let round = 0; round < rounds; round++) {
      for (const store of ['krmkit', 'lmdb']) {
        found[store].push(
          withFolder((dir) =>
            runInside(inside, { args: ['--dir', dir, '--store', store, '--n', count, '--writers', String(writers)] }),
          ),
        )
      }
    }
    rows.push({ writers, krmkit: best(found.krmkit), lmdb: best(found.lmdb) })
  }
  return rows
}

function best(runs) {
  return {
    perSecond: Math.max(...runs.map(({ perSecond }) => perSecond)),
    cpuMicroseconds: Math.min(...runs.map(({ cpuMicroseconds }) => cpuMicroseconds)),
  }
}

function measureOpening(count) {
  return withFolder((dir) => {
    runInside(inside, { args: ['--dir', dir, '--n', String(count), '--writers', '1000'] })
    const opened = runInside(inside, { args: ['--what', 'open', '--dir', dir], nodeFlags: ['--expose-gc'] })
    return { ...opened, fileBytes: statSync(join(dir, 'data.mdb')).size }
  })
}

function putsText(rows) {
  const table = rows.map(({ writers, krmkit, lmdb }) => [
    writers,
    figure(krmkit.perSecond),
    figure(lmdb.perSecond),
    factor(krmkit.perSecond / lmdb.perSecond),
    figure(krmkit.cpuMicroseconds),
    figure(lmdb.cpuMicroseconds),
  ])
  const head = ['writers', 'krmkit puts/s', 'lmdb puts/s', 'factor', 'krmkit µs', 'lmdb µs']
  return `## Writes beside the library alone

Values of 1 KiB; each writer waits until its write is on disk. The library keeps the newest value of each key; the store also keeps
history, checks conditions and delivers events. µs: processor time of all threads for one write.

${markdownTable(head, table)}`
}

function openText(rows) {
  const table = rows.map(({ objects: count, ms, cpuMs, bytes, bytesAfterReads, fileBytes }) => [
    figure(count),
    figure(fileBytes / 2 ** 20),
    figure(ms),
    figure(cpuMs),
    figure(bytes / count),
    figure(bytesAfterReads / count),
  ])
  const head = ['objects', 'file MiB', 'open ms', 'CPU ms', 'bytes / object', 'bytes / object, read']
  return `## Restart and memory of the embedded store

Objects of 1 KiB. Values are read from the file when they are first accessed; memory is that of heap and buffers after a collection.

${markdownTable(head, table)}`
}

function etcdText(rows) {
  const workloads = rows.filter(({ krmkit }) => krmkit.perSecond > 0)
  const table = workloads.map((row) => [
    row.workload,
    ...comparedCells(row),
    figure(row.krmkit.etcdCpuSeconds, 's'),
    figure(row.stock.etcdCpuSeconds, 's'),
  ])
  const head = ['workload', ...comparedHead, 'etcd under krmkit', 'etcd under stock']
  const memory = rows.find(({ workload }) => workload === 'memory')
  return `## On etcd, beside kube-apiserver

Each server has an etcd of one member on this machine, which also runs the load generator with ${figure(Number(objects))} objects, after as
many in another namespace; ${rounds === 1 ? 'one round' : `the best of ${rounds} rounds`}. µs: processor time of the server for one operation;
factors above 1 are in favour of krmkit; etcd: its processor time for the whole workload.

${markdownTable(head, table)}
Resident memory after the run: krmkit ${figure(memory?.krmkit.residentMiB, 'MiB')}, kube-apiserver ${figure(memory?.stock.residentMiB, 'MiB')}.
`
}
