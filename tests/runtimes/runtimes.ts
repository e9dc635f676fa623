import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findChromium, findOnPath } from '../../examples/field-managers/chromium.ts'
import { pageBundle, programBundle, workerBundle } from './bundles.ts'
import type { CheckResult, PortCheckName } from './check-names.ts'
import { packageExecutable, platformExecutable } from './executables.ts'

/** The runtimes, and how each of them runs the suite. */

export interface Runtime {
  readonly name: string
  /** Undefined where it is not installed. */
  readonly executable: string | undefined
  /** What it does besides the checks for every runtime. */
  readonly portChecks: readonly PortCheckName[]
  /** How to get it. */
  readonly hint: string
  run(executable: string): Promise<CheckResult[]>
}

/** Time for the suite on a busy machine. */
export const limitMs = 240_000
/** What the ports and the certificate on disk need; without them the environment alone. */
const permissions = ['--allow-env', '--allow-net=127.0.0.1', '--allow-read', '--allow-write', '--allow-sys']
const nodePorts: readonly PortCheckName[] = ['listens without TLS', 'listens with TLS']
export const optional = '`npm run runtimes` installs it'
const current = process.versions.node.split('.')[0]

export const runtimes: readonly Runtime[] = [
  {
    name: `Node ${current}`,
    executable: process.execPath,
    portChecks: nodePorts,
    hint: '',
    run: (executable) => runProgram(executable),
  },
  ...['22', '24']
    .filter((release) => release !== current)
    .map((release) => ({
      name: `Node ${release}`,
      executable: packageExecutable(`node-${release}`, 'bin/node'),
      portChecks: nodePorts,
      hint: optional,
      run: (executable: string) => runProgram(executable),
    })),
  {
    name: 'Deno',
    executable: platformExecutable('deno', process.platform === 'win32' ? 'deno.exe' : 'deno'),
    portChecks: ['serves fetch requests on a port', ...nodePorts],
    hint: optional,
    run: (executable) => runProgram(executable, ['run', '--no-prompt', '--no-config', '--no-lock', ...permissions]),
  },
  {
    name: 'Bun',
    executable: platformExecutable('bun', process.platform === 'win32' ? 'bin/bun.exe' : 'bin/bun'),
    portChecks: [
      'serves fetch requests on a port',
      'listens without TLS',
      'refuses TLS where certificates of clients cannot be read',
    ],
    hint: optional,
    run: (executable) => runProgram(executable, ['run']),
  },
  {
    name: 'workerd',
    executable: process.platform === 'win32' ? undefined : platformExecutable('workerd', 'bin/workerd'),
    portChecks: [],
    hint: optional,
    run: runWorker,
  },
  {
    name: 'Chromium',
    executable: findChromium(),
    portChecks: [],
    hint: 'set CHROMIUM to its path',
    run: (executable) =>
      runPage((url, profile) => {
        const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
        const flags = ['--headless=new', '--no-first-run', '--disable-gpu', '--disable-dev-shm-usage', ...sandbox]
        return spawn(executable, [...flags, `--user-data-dir=${profile}`, url], { stdio: 'ignore' })
      }),
  },
  {
    name: 'Firefox',
    executable: findOnPath('FIREFOX', ['firefox', 'firefox-esr']),
    portChecks: [],
    hint: 'set FIREFOX to its path',
    run: (executable) =>
      runPage((url, profile) => {
        const env = { ...process.env, HOME: profile, MOZ_HEADLESS: '1' }
        return spawn(executable, ['--headless', '--no-remote', '--profile', profile, url], { stdio: 'ignore', env })
      }),
  },
]

/** Runs the suite as a program that prints its results in the last line. */
async function runProgram(executable: string, flags: readonly string[] = []): Promise<CheckResult[]> {
  using folder = temporaryFolder()
  const file = join(folder.path, 'suite.mjs')
  writeFileSync(file, await programBundle())
  const child = spawn(executable, [...flags, file], { cwd: folder.path, timeout: limitMs })
  const [output, errors] = [textOf(child.stdout), textOf(child.stderr)]
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${executable} ended with ${code}: ${await errors}${await output}`)
  return parseResults((await output).trim().split('\n').at(-1) ?? '')
}

/** Serves the suite with workerd on a Unix socket, and requests its results. */
async function runWorker(executable: string): Promise<CheckResult[]> {
  using folder = temporaryFolder()
  const socket = join(folder.path, 'http.sock')
  writeFileSync(join(folder.path, 'suite.mjs'), await workerBundle())
  writeFileSync(
    join(folder.path, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (modules = [(name = "suite", esModule = embed "suite.mjs")], compatibilityDate = "2025-09-01"))],
  sockets = [(name = "http", address = "unix:${socket}", http = (), service = "main")],
);
`,
  )
  const child = spawn(executable, ['serve', 'config.capnp'], { cwd: folder.path, stdio: ['ignore', 'ignore', 'pipe'] })
  const [exited, errors] = [once(child, 'exit'), textOf(child.stderr)]
  const ended = exited.then(async ([code]) => Promise.reject(new Error(`workerd ended with ${code}: ${await errors}`)))
  ended.catch(() => undefined)
  try {
    while (!existsSync(socket)) await Promise.race([delay(50), ended])
    return parseResults(await Promise.race([getText(socket), ended]))
  } finally {
    await stop(child, exited)
  }
}

/** Opens a page with the suite in a browser. The page sends its results to the server of the page. */
async function runPage(open: (url: string, profile: string) => ChildProcess): Promise<CheckResult[]> {
  using folder = temporaryFolder()
  const script = `${await pageBundle()}
suite.runChecks().then(JSON.stringify, String).then((body) => fetch('/results', { method: 'POST', body }))`
  let receive: (text: string) => void = () => undefined
  const received = new Promise<string>((resolve) => {
    receive = resolve
  })
  const server = createServer((message, response) => {
    if (message.method === 'POST') void textOf(message).then(receive)
    const isScript = message.url === '/suite.js'
    response.setHeader('content-type', isScript ? 'text/javascript; charset=utf-8' : 'text/html; charset=utf-8')
    response.end(isScript ? script : '<!doctype html><title>suite</title><script src="/suite.js"></script>')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const child = open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, folder.path)
  const exited = once(child, 'exit')
  try {
    const late = delay(limitMs, undefined, { ref: false }).then(() => 'the page sent no results')
    return parseResults(await Promise.race([received, late]))
  } finally {
    await stop(child, exited)
    server.closeAllConnections()
    server.close()
  }
}

function parseResults(text: string): CheckResult[] {
  if (text.startsWith('[')) return JSON.parse(text) as CheckResult[]
  throw new Error(`no results: ${text}`)
}

async function stop(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM')
  await exited
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function getText(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path: '/', timeout: limitMs }, (response) => void textOf(response).then(resolve, reject))
      .on('error', reject)
      .end()
  })
}

function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'krmkit-runtime-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}
