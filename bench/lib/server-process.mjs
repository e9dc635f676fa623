/** Starts the server with its command in a separate process and observes it. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tool } from '../../scripts/run.mjs'

const { bundle, bundleFile } = await tool('bundle')

export const token = 'bench-token'
/** Clock ticks per second of /proc, a constant on Linux. */
const ticksPerSecond = 100

/**
 * @param {{ storage: 'memory' | 'durable' | 'etcd', dir?: string, nodeFlags?: string[], flags?: string[] }} options `dir`: the data folder
 * of an earlier run; `flags`: more flags of the server
 * @returns the running server; `readyMs` counts from the start of the process.
 */
export async function startServer({
  storage,
  dir = mkdtempSync(join(tmpdir(), 'krmkit-bench-')),
  nodeFlags = [],
  flags: more = [],
}) {
  bundle()
  mkdirSync(dir, { recursive: true })
  const tokens = join(dir, 'tokens.csv')
  writeFileSync(tokens, `${token},bench,1,"system:masters"\n`)
  // Without controllers, like a kube-apiserver.
  const flags = ['--secure-port', '0', '--storage', storage, '--data-dir', dir, '--token-auth-file', tokens]
  flags.push('--controllers', '*,-deployment-controller', ...more)
  const from = performance.now()
  const child = spawn(process.execPath, [...nodeFlags, bundleFile, 'serve', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  child.stderr.on('data', (text) => {
    log += text
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const url = await new Promise((resolve, reject) => {
    let out = ''
    child.stdout.on('data', (text) => {
      out += text
      const found = /https:\/\/[^\s;]+/.exec(out)
      if (found !== null && out.includes('\n')) resolve(found[0])
    })
    exited.then(() => reject(new Error(`the server did not start:\n${out}${log}`)))
  })
  const readyMs = performance.now() - from
  return {
    url,
    dir,
    readyMs,
    pid: child.pid,
    cpuSeconds: () => cpuSeconds(child.pid),
    rssMiB: () => rssMiB(child.pid),
    /** Its standard error output. */
    log: () => log,
    /** Stops the server; SIGKILL tests that acknowledged writes are on disk. */
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await exited
    },
    removeData: () => rmSync(dir, { recursive: true, force: true }),
  }
}

/** CPU time of all threads so far; undefined without /proc. */
export function cpuSeconds(pid) {
  const fields = read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ')
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Resident memory; undefined without /proc. */
export function rssMiB(pid) {
  const kiB = /VmRSS:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`) ?? '')?.[1]
  return kiB === undefined ? undefined : Number(kiB) / 1024
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
