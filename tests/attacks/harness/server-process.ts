import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificateAuthority, type IssuedCertificate } from '@krmkit/authentication/testing'
import { systemClock, systemRandom } from '@krmkit/meta'
import { harnessFolder, root } from './root.ts'

/** `krmkit serve` in a separate process, with a probe that measures its event loop and memory. */
export interface AttackedProcess extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly folder: string
  readonly pid: number
  /** Certificates that the server accepts, and one that it rejects. */
  readonly certificates: Readonly<Record<'bob' | 'proxy' | 'stranger', IssuedCertificate>>
  /** False after the process has exited. */
  alive(): boolean
  /** Its standard error output. */
  log(): string
  probe(ask: 'begin'): Promise<{ readonly rssBytes: number }>
  probe(ask: 'read'): Promise<{ readonly longestMs: number; readonly peakBytes: number; readonly cpuMs: number }>
  probe(ask: 'collect'): Promise<{ readonly heapBytes: number; readonly rssBytes: number }>
  /** Kills it. */
  kill(): Promise<void>
}

export interface AttackedProcessOptions {
  readonly flags?: readonly string[]
  /** Flags that name paths in the server's folder. */
  readonly flagsIn?: (folder: string) => readonly string[]
  /** Fills the folder before the start. */
  readonly before?: (folder: string) => void
  readonly nodeFlags?: readonly string[]
  /** The umask of the process. Default: that of this process. */
  readonly umask?: number
}

/** Static tokens of the server. `admin` is in `system:masters`; `carol` has no permissions; `node` is a kubelet. */
export const tokens = {
  admin: 'admin-token-0123456789',
  alice: 'alice-token-0123456789',
  carol: 'carol-token-0123456789',
  node: 'node-token-0123456789',
} as const

const tokenLines = [
  `${tokens.admin},admin,admin-uid,"system:masters"`,
  `${tokens.alice},alice,alice-uid,"dev,ops"`,
  `${tokens.carol},carol,carol-uid,"guests"`,
  `${tokens.node},system:node:n1,node-uid,"system:nodes"`,
]

/** The command; `ATTACKED_COMMAND` selects another build for comparison. */
export const bundleFile = process.env['ATTACKED_COMMAND'] ?? join(root, 'packages/cli/dist/bundle/main.cjs')
const probeFile = join(harnessFolder, 'probe.cjs')
/** Past revisions are kept for so long, which is short enough to wait for. */
export const historySeconds = 5
const startLimitMs = 30_000

/** Updates the bundled command. Cheap when no source has changed. */
export function bundleCommand(): void {
  if (process.env['ATTACKED_COMMAND'] !== undefined) return
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/run.mjs'), 'bundle'], { stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('bundling the command failed')
}

export async function startAttackedProcess(options: AttackedProcessOptions = {}): Promise<AttackedProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'krmkit-attacks-'))
  const { certificates, flags } = writeIdentities(folder)
  const command = [
    '--expose-gc',
    ...(options.nodeFlags ?? []),
    '--require',
    probeFile,
    bundleFile,
    'serve',
    '--secure-port=0',
    `--data-dir=${join(folder, 'data')}`,
    `--etcd-compaction-interval=${historySeconds}s`,
    ...flags,
    ...(options.flags ?? []),
    ...(options.flagsIn?.(folder) ?? []),
  ]
  options.before?.(folder)
  const [program = '', ...args] = [...underMask(options.umask), process.execPath, ...command]
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const exited = once(child, 'exit')
  let errors = ''
  child.stderr?.on('data', (text: Buffer) => {
    errors = (errors + text.toString()).slice(-20_000)
  })
  const url = await servedUrl(child, () => errors)
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    url,
    port: Number(new URL(url).port),
    folder,
    pid: child.pid ?? 0,
    certificates,
    alive: () => child.exitCode === null && child.signalCode === null,
    log: () => errors,
    probe: probing(child),
    kill,
    [Symbol.asyncDispose]: kill,
  }
}

/** Threads cannot change the umask of their process, so a shell does and executes the server. */
function underMask(mask: number | undefined): readonly string[] {
  return mask === undefined ? [] : ['/bin/sh', '-c', `umask ${mask.toString(8)} && exec "$0" "$@"`]
}

function writeIdentities(folder: string): Pick<AttackedProcess, 'certificates'> & { readonly flags: readonly string[] } {
  const environment = { clock: systemClock, random: systemRandom }
  const people = createCertificateAuthority({ name: 'people', ...environment })
  const front = createCertificateAuthority({ name: 'front', ...environment })
  const strangers = createCertificateAuthority({ name: 'strangers', ...environment })
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }
  return {
    certificates: {
      bob: people.issue({ commonName: 'bob', organizations: ['dev'] }),
      proxy: front.issue({ commonName: 'front-proxy' }),
      stranger: strangers.issue({ commonName: 'admin', organizations: ['system:masters'] }),
    },
    flags: [
      `--token-auth-file=${file('tokens.csv', `${tokenLines.join('\n')}\n`)}`,
      `--client-ca-file=${file('people.pem', people.certificate)}`,
      `--requestheader-client-ca-file=${file('front.pem', front.certificate)}`,
      '--requestheader-allowed-names=front-proxy',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-uid-headers=X-Remote-Uid',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    ],
  }
}

function servedUrl(child: ChildProcess, errors: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = ''
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`the server is not ready after ${startLimitMs} ms:\n${out}${errors()}`))
    }, startLimitMs)
    child.stdout?.on('data', (text: Buffer) => {
      out = (out + text.toString()).slice(-20_000)
      const found = /https:\/\/[^\s;]+/.exec(out)
      if (found === null) return
      clearTimeout(late)
      resolve(found[0])
    })
    child.once('exit', (code) => {
      clearTimeout(late)
      reject(new Error(`the server ended with ${code}:\n${out}${errors()}`))
    })
  })
}

/** Requests to the probe; rejected when the process exits first. */
function probing(child: ChildProcess): AttackedProcess['probe'] {
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>()
  let last = 0
  child.on('message', (message: { id: number }) => {
    waiting.get(message.id)?.resolve(message as never)
    waiting.delete(message.id)
  })
  const end = () => {
    for (const { reject } of waiting.values()) reject(new Error('the server process has ended'))
    waiting.clear()
  }
  child.once('exit', end)
  return ((ask: string) =>
    new Promise((resolve, reject) => {
      const id = ++last
      waiting.set(id, { resolve, reject })
      if (child.connected) child.send({ id, ask }, (error) => error !== null && reject(error))
      else reject(new Error('the server process has ended'))
    })) as AttackedProcess['probe']
}
