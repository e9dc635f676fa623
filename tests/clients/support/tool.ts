import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** The cache of other languages' tools between runs; not part of a fresh clone. */
export async function cacheFolder(name: string): Promise<string> {
  const folder = fileURLToPath(new URL(`../../../node_modules/.cache/clients/${name}/`, import.meta.url))
  await mkdir(folder, { recursive: true })
  return folder
}

export interface Finished {
  /** Null: killed by a signal, or never started. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions extends Pick<SpawnOptions, 'cwd' | 'env'> {
  readonly stdin?: string
  /** The timeout after which it is killed. */
  readonly timeoutMs?: number
  /** Receives the running process. */
  readonly running?: (child: ChildProcess) => void
}

/** Runs a program to its end. Never rejects: a missing program has code null and a reason on stderr. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const { stdin, timeoutMs = 60_000, running, ...rest } = options
  return new Promise((resolve) => {
    const child = spawn(program, args, { ...rest, stdio: ['pipe', 'pipe', 'pipe'], timeout: timeoutMs, killSignal: 'SIGKILL' })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      stdout += piece
    })
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      stderr += piece
    })
    child.on('error', (error) => resolve({ code: null, stdout, stderr: `${stderr}${error.message}` }))
    child.on('close', (code) => resolve({ code, stdout, stderr }))
    child.stdin.on('error', () => undefined)
    child.stdin.end(stdin ?? '')
    running?.(child)
  })
}

/** The last output of a failed program, for a message. */
export function lastLine({ stderr, stdout }: Finished): string {
  return (stderr.trim() || stdout.trim()).split('\n').at(-1) ?? ''
}

export function hashOf(...texts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(text).update('\0')
  return hash.digest('hex').slice(0, 16)
}
