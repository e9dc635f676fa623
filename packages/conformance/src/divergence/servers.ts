import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tokenFile } from './scenario.ts'
import { emulationFlags, servedFlags } from './served.ts'
import type { Side } from './side.ts'

/** Starts the two servers, each in its own process on loopback, without controllers: everything that happens is an answer. */

/** Flags that kube-apiserver and `krmkit serve` share. */
const commonFlags = (folder: string): readonly string[] => [
  `--token-auth-file=${join(folder, 'tokens.csv')}`,
  '--authorization-mode=Node,RBAC',
  '--enable-bootstrap-token-auth',
  // A long run creates more services than the default range has addresses.
  '--service-cluster-ip-range=10.0.0.0/16',
  ...servedFlags,
]

/** Flags of `krmkit serve` beside the port, the data folder and the storage. */
export const krmkitFlags = (folder: string): readonly string[] => [
  '--controllers=',
  // Without its controller the plugin has to be asked for.
  '--enable-admission-plugins=ServiceAccount,NodeRestriction',
  ...emulationFlags,
  ...commonFlags(folder),
]

/** @param command the bundled `krmkit` command */
export async function startKrmkit(command: string): Promise<Side> {
  const processes = new Processes('krmkit')
  const own = ['serve', '--secure-port=0', `--data-dir=${processes.folder}/data`, '--storage=memory']
  const child = processes.start(process.execPath, [command, ...own, ...krmkitFlags(processes.folder)])
  const url = await firstMatch(child, /serves (https:\/\/[^\s;]+)/)
  if (url === undefined) throw new Error(`krmkit does not start: ${processes.log}`)
  return { name: 'krmkit', url, stop: () => processes.stop() }
}

/** @param folder holds the executables `etcd` and `kube-apiserver` */
export async function startStock(folder: string): Promise<Side> {
  const processes = new Processes('stock')
  const [client, peer, port] = (await freePorts(3)) as [number, number, number]
  const at = (name: string) => join(processes.folder, name)
  // The algorithm of krmkit's own key.
  await processes.run('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', at('sa.key')])
  processes.start(join(folder, 'etcd'), [
    `--data-dir=${at('etcd')}`,
    `--listen-client-urls=http://127.0.0.1:${client}`,
    `--advertise-client-urls=http://127.0.0.1:${client}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-cluster=default=http://127.0.0.1:${peer}`,
    '--log-level=error',
    // Nothing is kept after the run, so writes do not wait for the disk.
    '--unsafe-no-fsync',
  ])
  processes.start(join(folder, 'kube-apiserver'), [
    `--etcd-servers=http://127.0.0.1:${client}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${at('certs')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${at('sa.key')}`,
    `--service-account-signing-key-file=${at('sa.key')}`,
    '--enable-admission-plugins=NodeRestriction',
    ...commonFlags(processes.folder),
  ])
  const url = `https://127.0.0.1:${port}`
  await untilReady(`${url}/readyz`, () => processes.log)
  return { name: 'stock', url, stop: () => processes.stop() }
}

/** Child processes with a folder of their own. */
export class Processes {
  readonly folder: string
  log = ''
  readonly #children: ChildProcess[] = []
  readonly #killAll = () => {
    for (const child of this.#children) child.kill('SIGKILL')
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), `divergence-${name}-`))
    writeFileSync(join(this.folder, 'tokens.csv'), tokenFile, { mode: 0o600 })
    process.once('exit', this.#killAll)
  }

  start(command: string, args: readonly string[]): ChildProcess {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#children.push(child)
    const keep = (text: Buffer) => {
      this.log = (this.log + text.toString()).slice(-4000)
    }
    child.stderr.on('data', keep)
    child.stdout.on('data', keep)
    return child
  }

  async run(command: string, args: readonly string[]): Promise<void> {
    const child = this.start(command, args)
    const code = await new Promise((resolve) => child.once('exit', resolve))
    if (code !== 0) throw new Error(`${command} failed: ${this.log}`)
  }

  async stop(): Promise<void> {
    const running = this.#children.filter((child) => child.exitCode === null && child.signalCode === null)
    const ended = running.map((child) => new Promise((resolve) => child.once('exit', resolve)))
    for (const child of running) child.kill('SIGKILL')
    await Promise.all(ended)
    process.off('exit', this.#killAll)
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

export function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string | undefined> {
  return new Promise((resolve) => {
    let seen = ''
    child.stdout?.on('data', (text: Buffer) => {
      seen += text.toString()
      const found = pattern.exec(seen)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('exit', () => resolve(undefined))
  })
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer()
      return new Promise<typeof server>((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
    }),
  )
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

async function untilReady(url: string, log: () => string): Promise<void> {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    const status = await new Promise<number>((resolve) => {
      const headers = { authorization: 'Bearer admin-token' }
      const outgoing = get(url, { rejectUnauthorized: false, headers }, (incoming) => {
        incoming.resume()
        resolve(incoming.statusCode ?? 0)
      })
      outgoing.once('error', () => resolve(0))
    })
    if (status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`kube-apiserver is not ready: ${log()}`)
}
