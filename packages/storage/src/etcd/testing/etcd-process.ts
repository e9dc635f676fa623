/** Runs a private etcd for tests. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EtcdClient } from '../etcd-client.ts'

/** The path of the program `etcd`: from the environment variable `KRMKIT_ETCD` or the search path; undefined without either. */
export function etcdProgram(): string | undefined {
  const named = process.env.KRMKIT_ETCD
  if (named !== undefined && named !== '') return named
  try {
    execFileSync('etcd', ['--version'], { stdio: 'ignore' })
    return 'etcd'
  } catch {
    return undefined
  }
}

/** Reason why tests that need etcd are skipped. */
export const withoutEtcd = 'etcd is neither on the path nor named by KRMKIT_ETCD'

interface Alarm {
  readonly memberID: string
  readonly alarm: string
}

export class EtcdProcess {
  readonly url: string
  readonly port: number
  readonly #program: string
  readonly #dir = mkdtempSync(join(tmpdir(), 'krmkit-etcd-'))
  /** Where it listens for other members. */
  readonly peerPort: number
  readonly #flags: string[]
  #child: ChildProcess | undefined

  private constructor(program: string, ports: { client: number; peer: number }, flags: readonly string[]) {
    this.#program = program
    this.port = ports.client
    this.peerPort = ports.peer
    this.#flags = [...flags]
    this.url = `http://127.0.0.1:${ports.client}`
  }

  static async start(program: string, flags: readonly string[] = []): Promise<EtcdProcess> {
    const etcd = await EtcdProcess.prepare(program, flags)
    await etcd.start()
    return etcd
  }

  /** A process that has not been started. @param flags take precedence over the default flags */
  static async prepare(program: string, flags: readonly string[]): Promise<EtcdProcess> {
    return new EtcdProcess(program, { client: await freePort(), peer: await freePort() }, flags)
  }

  /** Adds flags for the next start. */
  addFlags(flags: readonly string[]): void {
    this.#flags.push(...flags)
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Starts the process, with its existing data if any. */
  async start(): Promise<void> {
    const peer = `http://127.0.0.1:${this.peerPort}`
    const flags = [
      ...['--data-dir', this.#dir, '--listen-client-urls', this.url, '--advertise-client-urls', this.url],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
      ...['--log-level', 'error', ...this.#flags],
    ]
    this.#child = spawn(this.#program, flags, { stdio: 'ignore' })
    const client = new EtcdClient({ endpoints: [this.url], timeoutMs: 20_000 })
    try {
      await client.range({ key: new TextEncoder().encode('/') })
    } finally {
      client.close()
    }
  }

  /** Restores the data of a process from a snapshot, before its first start. @param etcdutl the program */
  restore(etcdutl: string, snapshot: string): void {
    const peer = `http://127.0.0.1:${this.peerPort}`
    const member = ['--name', 'default', '--initial-cluster', `default=${peer}`, '--initial-advertise-peer-urls', peer]
    execFileSync(etcdutl, ['snapshot', 'restore', snapshot, '--data-dir', this.#dir, ...member], { stdio: 'pipe' })
  }

  /** SIGKILL, SIGSTOP or SIGCONT. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  /** Compacts to a revision, gives the free space back and ends the alarm, as an operator does when the quota is exhausted. */
  async reclaimSpace(revision: number): Promise<void> {
    await this.#maintain('kv/compaction', { revision, physical: true })
    await this.#maintain('maintenance/defragment', {})
    const { alarms = [] } = await this.#maintain('maintenance/alarm', { action: 'GET' })
    for (const alarm of alarms) await this.#maintain('maintenance/alarm', { action: 'DEACTIVATE', ...alarm })
  }

  /** Names of the raised alarms, such as `NOSPACE`. */
  async alarms(): Promise<string[]> {
    const { alarms = [] } = await this.#maintain('maintenance/alarm', { action: 'GET' })
    return alarms.map(({ alarm }) => alarm)
  }

  /** Calls the JSON gateway, because member identifiers are too large for the numbers of the client. */
  async #maintain(method: string, request: object): Promise<{ readonly alarms?: readonly Alarm[] }> {
    const response = await fetch(`${this.url}/v3/${method}`, { method: 'POST', body: JSON.stringify(request) })
    const text = await response.text()
    if (!response.ok) throw new Error(`etcd refused ${method}: ${text}`)
    return JSON.parse(text) as { readonly alarms?: readonly Alarm[] }
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
  }

  async dispose(): Promise<void> {
    await this.kill()
    rmSync(this.#dir, { recursive: true, force: true })
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
