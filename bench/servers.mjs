#!/usr/bin/env node
// `npm run bench:servers -- [--quick] [--servers 100] [--processes 1,2,4] [--tests 3]`: start, memory and tests per second of many test servers:
// those of `createTestServer` in one process, and processes of krmkit and of kube-apiserver, which KRMKIT_PEER or the path names, alone and with
// kwok, which KRMKIT_KWOK names. Writes docs/reference/generated/performance/servers.md (without --quick). Linux only.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { tool } from '../scripts/run.mjs'
import { bundleInside, runInside } from './lib/inside.mjs'
import { saveResults, writeReport } from './lib/results.mjs'
import { cpuSeconds, rssMiB, startServer, token } from './lib/server-process.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    servers: { type: 'string' },
    processes: { type: 'string' },
    tests: { type: 'string' },
  },
})
const servers = flags.servers ?? (flags.quick ? '10' : '100')
const tests = flags.tests ?? (flags.quick ? '2' : '3')
const processCounts = (flags.processes ?? (flags.quick ? '1' : '1,2,4')).split(',').map(Number)

// The bundle finds the optional packages of storage.
const program = await bundleInside('servers-main', { folder: 'packages/storage/node_modules/.cache/bench' })
const { nodeReady, startKwok } = await import(await bundleInside('kwok-process'))
const kinds = {
  alone: 'krmkit, `createTestServer({ controllers: [] })`',
  new: 'krmkit, `createTestServer()`',
  fork: 'krmkit, `fork()` of a template with 42 objects',
}
const loads = [loadavg()[0]]
const inside = Object.keys(kinds).map(measureInside)
const processes = []
const { bundle } = await tool('bundle')
const { stockFolder, withoutStock } = await tool('lib/stock-folder')
bundle()
for (const count of processCounts) processes.push(await measureProcesses('krmkit', count, () => startKrmkit([])))
for (const count of processCounts) processes.push(await measureProcesses('simulated', count, startSimulated))
const peer = stockFolder()
if (peer === undefined) console.log(`bench:servers: kube-apiserver is skipped: ${withoutStock}`)
else for (const count of processCounts) processes.push(await measureProcesses('stock', count, await stockStarter(peer)))
const withoutKwok = kwokMissing()
if (withoutKwok !== undefined) console.log(`bench:servers: kwok is skipped: ${withoutKwok}`)
else for (const count of processCounts) processes.push(await measureProcesses('kwok', count, await kwokStarter(peer)))

loads.push(loadavg()[0])
const text = report()
console.log(text)
saveResults('servers', { inside, processes })
if (!flags.quick) writeReport('servers', { title: 'Many test servers', command: 'npm run bench:servers', text })

function measureInside(kind) {
  process.stderr.write(`${servers} servers in one process, ${kind}\n`)
  const args = ['--kind', kind, '--servers', servers, '--tests', tests]
  return { kind, ...runInside(program, { args, nodeFlags: ['--expose-gc'] }) }
}

/** Starts servers at the same time, and runs the tests from another process. */
async function measureProcesses(name, count, start) {
  process.stderr.write(`${count} ${count === 1 ? 'process' : 'processes'}, ${name}\n`)
  const from = performance.now()
  const running = await Promise.all(Array.from({ length: count }, start))
  const startedMs = performance.now() - from
  const sum = (of) => running.flatMap(({ pids }) => pids).reduce((total, pid) => total + of(pid), 0)
  try {
    const startCpuSeconds = sum(cpuSeconds)
    const startedMiB = sum(rssMiB)
    const { ran, testing } = runInside(program, {
      args: ['--tests', String(Number(tests) * 10), '--token', token, ...running.map(({ url }) => url)],
    })
    const testCpuSeconds = sum(cpuSeconds) - startCpuSeconds
    return { name, count, startedMs, startCpuSeconds, startedMiB, ran, testing, testCpuSeconds, testedMiB: sum(rssMiB) }
  } finally {
    for (const { close } of running) await close()
  }
}

/** With one node, the scheduler and the workload controllers; ready when the node is. */
async function startSimulated() {
  const server = await startKrmkit(['--simulate-nodes', '1'])
  await nodeReady({ url: server.url, token, name: 'node-1' })
  return server
}

async function startKrmkit(flags) {
  const server = await startServer({ storage: 'memory', flags })
  const close = async () => {
    await server.stop()
    server.removeData()
  }
  return { url: server.url, pids: [server.pid], close }
}

/** As envtest starts them: an etcd and a kube-apiserver for each server. */
async function stockStarter(folder) {
  process.env.KRMKIT_ETCD = join(folder, 'etcd')
  process.env.KRMKIT_KUBE_APISERVER = join(folder, 'kube-apiserver')
  const { startEtcd, startStock } = await import(await bundleInside('etcd-processes'))
  return async () => {
    const etcd = await startEtcd()
    const dir = mkdtempSync(join(tmpdir(), 'krmkit-bench-'))
    const server = await startStock({ etcd: etcd.url, folder: dir, token })
    const close = async () => {
      await server.close()
      await etcd.dispose()
      rmSync(dir, { recursive: true, force: true })
    }
    return { url: server.url, pids: [etcd.pid, server.pid], dir, close }
  }
}

/** @returns why kwok cannot be measured */
function kwokMissing() {
  const kwok = process.env.KRMKIT_KWOK
  if (!kwok) return 'KRMKIT_KWOK names no executable (`go install sigs.k8s.io/kwok/cmd/kwok@latest` builds one)'
  if (!existsSync(kwok)) return `KRMKIT_KWOK names ${kwok}, which does not exist`
  return peer === undefined ? 'it needs kube-apiserver' : undefined
}

/** A kube-apiserver with kwok, which simulates one node; as kwokctl starts them, but without scheduler and controller manager. */
async function kwokStarter(folder) {
  const startServerOfKwok = await stockStarter(folder)
  return async () => {
    const stock = await startServerOfKwok()
    try {
      const kwok = await startKwok(process.env.KRMKIT_KWOK, { url: stock.url, folder: stock.dir, token })
      const close = async () => {
        await kwok.close()
        await stock.close()
      }
      return { url: stock.url, pids: [...stock.pids, kwok.pid], close }
    } catch (error) {
      await stock.close()
      throw error
    }
  }
}

function report() {
  return `A test is seven requests in a new namespace: a namespace, a ConfigMap and a Deployment are created, the Deployment is read, updated, listed and
deleted. ms CPU: processor time of all threads. All servers of a row run at the same time, and so do their tests, one after the other on each server.
The load of the machine was ${loads.map((load) => Math.round(load)).join(' before and ')} after the run: elapsed times measure it, processor time hardly does.

## In one process

${insideTable()}
"First" includes loading the code, and for forks the template. The others are started together, each until its first response; their elapsed
time is divided by their number. Tests include the client, which is in the same process. The controllers of a fork start with its first write, in
the first test. New servers for each test: as many tests, ${figure(Math.max(1, Math.round(Number(servers) / 10)))} at a time, each of which starts and closes its
server.

## Processes

${processTable()}
Ready: from the start of the processes until all answer; kube-apiserver comes with its etcd, and is asked every 200 ms. Tests come from
another process, whose processor time is not included. The first requests of a process are the slowest, in particular for krmkit, whose code is
compiled while it runs. ${peer === undefined ? `kube-apiserver was skipped: ${withoutStock}. ` : ''}More processes than these were not measured. ${aboutKwok()}
`
}

function aboutKwok() {
  if (withoutKwok !== undefined) return `kwok was skipped: ${withoutKwok}.`
  return `kwok simulates one
node beside each kube-apiserver, without scheduler and controller manager; krmkit with a node runs both, but for the deployment controller, which
would write the objects of the tests. These servers are ready when the node is, which is asked every 200 ms.`
}

function insideTable() {
  const rows = inside.map(({ kind, count, emptyMiB, first, firstMiB, starting, startedMiB, ran, testing, isolated }) => [
    kinds[kind],
    count,
    figure(first.elapsedMs),
    figure(first.cpuMs),
    figure(starting.elapsedMs / (count - 1)),
    figure(starting.cpuMs / (count - 1)),
    figure(firstMiB - emptyMiB),
    figure((startedMiB - firstMiB) / (count - 1)),
    figure((ran * 1000) / testing.elapsedMs),
    figure(testing.cpuMs / ran),
    figure((ran * 1000) / isolated.elapsedMs),
    figure(isolated.cpuMs / ran),
  ])
  const head = [
    ...['servers', 'number', 'first, ms', 'ms CPU', 'each other, ms', 'ms CPU', 'first, MiB', 'each other, MiB'],
    ...['tests/s', 'ms CPU per test', 'tests/s, new server each', 'ms CPU per test'],
  ]
  return markdownTable(head, rows)
}

function processTable() {
  const names = {
    krmkit: 'krmkit, `serve --storage memory`',
    simulated: 'krmkit, `serve --storage memory --simulate-nodes 1`',
    stock: 'kube-apiserver with etcd',
    kwok: 'kube-apiserver with etcd and kwok',
  }
  const rows = processes.map((row) => [
    names[row.name],
    row.count,
    figure(row.startedMs),
    figure((row.startCpuSeconds * 1000) / row.count),
    figure(row.startedMiB / row.count),
    figure(row.testedMiB / row.count),
    figure((row.ran * 1000) / row.testing.elapsedMs),
    figure((row.testCpuSeconds * 1000) / row.ran),
  ])
  const head = [
    'servers',
    'number',
    'ready, ms',
    'ms CPU each',
    'MiB each',
    'MiB each, after tests',
    'tests/s',
    'ms CPU per test',
  ]
  return markdownTable(head, rows)
}
