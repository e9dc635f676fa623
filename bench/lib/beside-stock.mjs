/** krmkit and kube-apiserver under the same load in turn, each on new data. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildGenerator, generate } from './generator.mjs'
import { bundleInside } from './inside.mjs'
import { cpuSeconds, rssMiB, startServer, token } from './server-process.mjs'
import { factor, figure } from './table.mjs'

/** The reason why kube-apiserver cannot be measured; undefined when it can. */
export function missingPrograms(script) {
  const names = ['KRMKIT_ETCD', 'KRMKIT_KUBE_APISERVER'].filter((name) => (process.env[name] ?? '') === '')
  if (names.length > 0) return `${names.join(' and ')} name no program`
  return buildGenerator(script) ? undefined : 'no load generator'
}

/**
 * Runs the load generator against both servers, one after the other, in each round.
 *
 * @param {{ storage: 'memory' | 'durable' | 'etcd', objects: string, rounds: number, args?: readonly string[], warm?: boolean }} options
 * `storage`: of krmkit; kube-apiserver always has an etcd. `args`: for the generator. `warm`: writes as many objects to another namespace
 * first, so that the compilation of a server is not measured.
 * @returns for each workload the best figures of all rounds.
 */
export async function measureBesideStock({ storage, objects, rounds, args = [], warm = false }) {
  const servers = await serversOf(storage)
  const found = { krmkit: [], stock: [] }
  for (let round = 0; round < rounds; round++) {
    for (const name of Object.keys(servers)) {
      process.stderr.write(`${name}, round ${round + 1} of ${rounds}\n`)
      const server = await servers[name]()
      try {
        if (warm) await warmUp(server, objects)
        found[name].push(await drive(server, ['-n', objects, ...args]))
      } finally {
        await server.close()
      }
    }
  }
  const workloads = found.krmkit[0].map(({ workload }) => workload)
  return workloads.map((workload) => ({ workload, krmkit: bestOf(found.krmkit, workload), stock: bestOf(found.stock, workload) }))
}

async function serversOf(storage) {
  const { startEtcd, startStock } = await import(await bundleInside('etcd-processes'))
  return {
    async krmkit() {
      const etcd = storage === 'etcd' ? await startEtcd() : undefined
      const server = await startServer({ storage, flags: etcd === undefined ? [] : ['--etcd-servers', etcd.url] })
      const close = async () => {
        await server.stop()
        server.removeData()
        await etcd?.dispose()
      }
      return { url: server.url, pid: server.pid, readyMs: server.readyMs, etcdPid: etcd?.pid, close }
    },
    async stock() {
      const etcd = await startEtcd()
      const dir = mkdtempSync(join(tmpdir(), 'krmkit-bench-'))
      const from = performance.now()
      const server = await startStock({ etcd: etcd.url, folder: dir, token })
      const readyMs = performance.now() - from
      const close = async () => {
        await server.close()
        rmSync(dir, { recursive: true, force: true })
        await etcd.dispose()
      }
      return { url: server.url, pid: server.pid, readyMs, etcdPid: etcd.pid, close }
    },
  }
}

async function warmUp({ url }, objects) {
  const args = ['-server', url, '-token', token, '-n', objects, '-ns', 'warm', '-only', 'create,update,patch,apply']
  for await (const row of generate(args)) if (row.errors > 0) throw new Error(`${row.workload}: ${row.first_error}`)
}

async function drive({ url, pid, readyMs, etcdPid }, args) {
  const rows = [{ workload: 'ready', readyMs, extra: { rss_mib: rssMiB(pid) } }]
  const etcdCpu = () => (etcdPid === undefined ? 0 : cpuSeconds(etcdPid))
  let before = etcdCpu()
  for await (const row of generate(['-server', url, '-token', token, '-pids', String(pid), ...args])) {
    if (row.errors > 0) throw new Error(`${row.workload}: ${row.errors} errors: ${row.first_error}`)
    const after = etcdCpu()
    rows.push({ ...row, workload: row.workload.trim(), etcdCpuSeconds: after - before })
    before = after
  }
  return rows
}

/** Highest throughput; lowest latencies, processor time and memory of the rounds. */
function bestOf(runs, workload) {
  const rows = runs.map((run) => run.find((row) => row.workload === workload))
  const least = (read) => Math.min(...rows.map(read))
  return {
    readyMs: least(({ readyMs = 0 }) => readyMs),
    perSecond: Math.max(...rows.map(({ ops_per_s: perSecond = 0 }) => perSecond)),
    p50Ms: least(({ p50_ms: ms = 0 }) => ms),
    p99Ms: least(({ p99_ms: ms = 0 }) => ms),
    cpuMicroseconds: least(({ server_cpu_us: cpu = 0 }) => cpu),
    etcdCpuSeconds: least(({ etcdCpuSeconds = 0 }) => etcdCpuSeconds),
    residentMiB: least(({ extra }) => extra?.rss_mib ?? 0),
  }
}

/** Cells of the throughput and of the processor time of one operation, each with the factor by which krmkit is better. */
export function comparedCells({ krmkit, stock }) {
  return [
    figure(krmkit.perSecond),
    figure(stock.perSecond),
    factor(krmkit.perSecond / stock.perSecond),
    figure(krmkit.cpuMicroseconds),
    figure(stock.cpuMicroseconds),
    factor(stock.cpuMicroseconds / krmkit.cpuMicroseconds),
  ]
}

/** The heads of those cells. */
export const comparedHead = ['krmkit /s', 'stock /s', 'factor', 'krmkit µs', 'stock µs', 'factor of µs']
