/** The processes of a replay: servers, stores, webhooks. They end with this process. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { bundleFile } from '../bundle.ts'
import { shared } from './recording.ts'

const tokens = `admin-token,admin,admin-uid,"system:masters"
alice-token,alice,alice-uid,"dev"
bob-token,bob,bob-uid,"dev,ops"
node1-token,system:node:node-1,node1-uid,"system:nodes"
`

/** A process whose output is read, and whose errors are read or shown. */
type Child = ChildProcessByStdio<null, Readable, Readable | null>

export interface Running {
  stop(): Promise<void>
}

export interface Server extends Running {
  readonly url: string
}

export interface ServerOptions {
  /** Folder for its data. */
  readonly directory: string
  /** Additional flags, separated by spaces. */
  readonly flags: string
  readonly storage: string
  readonly threads: string
}

const children = new Set<Child>()
const folders = new Set<string>()

/** Ends all processes and removes all folders when this process ends for any reason. */
export function cleanUpAtExit(): void {
  process.on('exit', () => {
    for (const child of children) child.kill('SIGKILL')
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))
}

/** A folder for the data of a server, with the file of its tokens. */
export function createFolder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'krmkit-wire-'))
  folders.add(directory)
  writeFileSync(join(directory, 'tokens.csv'), tokens)
  return directory
}

export function removeFolder(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
  folders.delete(directory)
}

/** Starts a program, whose errors are read with `pipe`. */
function start(program: string, args: readonly string[], stderr: 'pipe' | 'inherit', env = process.env): Child {
  const child: Child =
    stderr === 'pipe'
      ? spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
      : spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], env })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

/** Runs a script of the recordings to its end. @returns its output @throws Error unless it ends with 0 or 1 */
export async function runScript(nodeOptions: readonly string[], args: readonly string[]): Promise<string> {
  const env = { ...process.env, NODE_NO_WARNINGS: '1' }
  const child = start(process.execPath, [...nodeOptions, ...args], 'inherit', env)
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  const [code] = await once(child, 'close')
  if (code !== 0 && code !== 1) throw new Error(`the replay of ${args.at(-1)} broke off`)
  return text
}

/** Starts an etcd for one server, on free ports. */
async function startEtcd(directory: string): Promise<Running & { readonly flags: readonly string[] }> {
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  const args = [
    ...['--data-dir', `${directory}/etcd`, '--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
    ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl, '--initial-cluster', `default=${peerUrl}`],
    // The data of a test need not survive the machine.
    ...['--log-level', 'fatal', '--unsafe-no-fsync'],
  ]
  const child = start(process.env.KRMKIT_ETCD || 'etcd', args, 'inherit')
  child.stdout.resume()
  child.once('error', (error) => {
    console.error(`wire: etcd cannot be started: ${error.message}`)
    process.exit(1)
  })
  return { flags: [`--etcd-servers=${clientUrl}`], stop: () => stop(child) }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port'))))
    })
  })
}

/** Starts the server on a free port; undefined when it does not support one of the flags. */
export async function startServer({ directory, flags, storage, threads }: ServerOptions): Promise<Server | undefined> {
  const etcd = storage === 'etcd' ? await startEtcd(directory) : { flags: [], stop: () => Promise.resolve() }
  const own = [
    'serve',
    '--secure-port=0',
    `--data-dir=${directory}/data`,
    `--token-auth-file=${directory}/tokens.csv`,
    `--storage=${storage}`,
    `--threads=${threads}`,
    ...etcd.flags,
    '--enable-bootstrap-token-auth',
    '--authorization-mode=Node,RBAC',
  ]
  const child = start(process.execPath, [bundleFile, ...own, ...flags.split(' ').filter((flag) => flag !== '')], 'pipe')
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const url = await firstMatch(child, /serves (https:\/\/\S+?);?(?:\s|$)/)
  if (url === undefined) {
    console.log(`wire: the server does not start with ${flags === '' ? 'no flags' : flags}: ${errors.trim().split('\n')[0]}`)
    if (flags === '') process.exit(1)
    await etcd.stop()
    return undefined
  }
  let isStopping = false
  child.on('exit', (code) => {
    if (!isStopping) console.log(`wire: the server exited (${code}): ${errors.slice(-2000)}`)
  })
  return {
    url,
    async stop() {
      isStopping = true
      await stop(child)
      await etcd.stop()
    },
  }
}

/** Starts the webhooks of the recordings; undefined when their port is in use. */
export async function startWebhook(): Promise<Running | undefined> {
  const child = start(process.execPath, [join(shared, 'webhook-server.mjs')], 'pipe')
  const ready = await Promise.race([firstMatch(child, /(\S)/), delay(1000, 'silent')])
  if (ready === undefined) {
    console.log('wire: the webhook server does not start (is its port in use?)')
    return undefined
  }
  return { stop: () => stop(child) }
}

/** Waits until revision 1 is compacted. @returns whether it is within half a minute */
export async function compacted(url: string): Promise<boolean> {
  const path = '/api/v1/namespaces?resourceVersion=1&resourceVersionMatch=Exact'
  for (let tries = 0; tries < 60; tries++) {
    if ((await statusOf(url + path)) === 410) return true
    await delay(500)
  }
  return false
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer admin-token' }
    get(url, { headers, rejectUnauthorized: false }, (response) => resolve(response.resume().statusCode)).on('error', reject)
  })
}

/** The first group of the first match in the output; undefined when the process ends before. */
function firstMatch(child: Child, pattern: RegExp): Promise<string | undefined> {
  return new Promise((resolve) => {
    let seen = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen += text
      const match = pattern.exec(seen)
      if (match !== null) resolve(match[1])
    })
    child.once('exit', () => resolve(undefined))
  })
}

async function stop(child: Child): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  setTimeout(() => child.kill('SIGKILL'), 5000).unref()
  await gone
}
