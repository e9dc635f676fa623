import { spawn } from 'node:child_process'

/** The outcome of a command. */
export type CommandOutcome =
  | { readonly kind: 'done'; readonly output: string }
  | { readonly kind: 'missing'; readonly cause: unknown }
  /** `reason`: `exit code 1`, `signal SIGKILL`. */
  | { readonly kind: 'failed'; readonly reason: string }

export interface CommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether the command may read from standard input. */
  readonly interactive: boolean
  readonly signal: AbortSignal
}

export type RunCommand = (command: string, args: readonly string[], options: CommandOptions) => Promise<CommandOutcome>

const maxOutputBytes = 1024 * 1024

/** Runs a command without a shell. Its standard error is inherited from this process. */
export const runCommand: RunCommand = (command, args, { env, interactive, signal }) =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...env },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
      shell: false,
      windowsHide: true,
      signal,
    })
    const parts: Buffer[] = []
    let size = 0
    child.stdout?.on('data', (part: Buffer) => {
      size += part.length
      if (size > maxOutputBytes) child.kill()
      else parts.push(part)
    })
    child.once('error', (cause: NodeJS.ErrnoException) =>
      resolve(signal.aborted ? { kind: 'failed', reason: 'the client was closed' } : { kind: 'missing', cause }),
    )
    child.once('close', (code, killSignal) => {
      if (size > maxOutputBytes) resolve({ kind: 'failed', reason: 'its output is too large' })
      else if (code === 0) resolve({ kind: 'done', output: Buffer.concat(parts).toString('utf8') })
      else resolve({ kind: 'failed', reason: code === null ? `signal ${killSignal}` : `exit code ${code}` })
    })
  })
