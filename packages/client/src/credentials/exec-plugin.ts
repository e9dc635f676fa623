import type { Clock } from '@krmkit/meta'
import type { CredentialSource, Credentials } from './credential-source.ts'
import type { ExecCluster, ExecConfig } from './exec-config.ts'
import { credentialsFailed, type ExecResult, execInfo, readExecCredential } from './exec-credential.ts'
import { type RunCommand, runCommand } from './run-command.ts'

export interface ExecOptions {
  readonly cluster: ExecCluster
  /** Environment that the command inherits. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Name of the environment variable that passes the ExecCredential: `KUBERNETES_EXEC_INFO`. */
  readonly infoName: string
  readonly clock: Pick<Clock, 'now'>
  /** Whether a user can respond to prompts. Default: whether standard input is a terminal. */
  readonly hasTerminal?: () => boolean
  /** Runs the command. Default: as a child process. */
  readonly run?: RunCommand
}

/**
 * Creates a source of credentials that a command prints. The command runs when they are first needed, when they have expired, and when
 * the server rejects them. Concurrent requests share one run.
 *
 * @see API protocol specification, 5.8
 */
export function execCredentials(config: ExecConfig, options: ExecOptions): CredentialSource {
  const { clock, env, infoName, cluster, run = runCommand } = options
  const hasTerminal = options.hasTerminal ?? (() => process.stdin.isTTY === true)
  const closing = new AbortController()
  let current: ExecResult | undefined
  let running: Promise<ExecResult> | undefined

  const isValid = ({ expiresAt }: ExecResult) => expiresAt === undefined || clock.now() <= expiresAt

  const execute = async (): Promise<ExecResult> => {
    const interactive = isInteractive(config, hasTerminal)
    const configuredEnv = Object.fromEntries(config.env.map(({ name, value }) => [name, value]))
    const outcome = await run(config.command, config.args, {
      env: { ...env, ...configuredEnv, [infoName]: execInfo(config, { cluster, interactive }) },
      interactive,
      signal: closing.signal,
    })
    if (outcome.kind === 'missing') throw credentialsFailed(config.command, notFound(config), outcome.cause)
    if (outcome.kind === 'failed') throw credentialsFailed(config.command, `failed (${outcome.reason})${hint(config)}`)
    current = readExecCredential(outcome.output, config)
    return current
  }
  const runOnce = (): Promise<ExecResult> => {
    running ??= execute().finally(() => {
      running = undefined
    })
    return running
  }

  return {
    async get() {
      return (current !== undefined && isValid(current) ? current : await runOnce()).credentials
    },
    async renew(credentials) {
      // Another request has already renewed the credentials.
      if (current !== undefined && current.credentials !== credentials) return true
      current = undefined
      return !isSame((await runOnce()).credentials, credentials)
    },
    close() {
      closing.abort()
    },
  }
}

function isInteractive({ interactiveMode, command }: ExecConfig, hasTerminal: () => boolean): boolean {
  if (interactiveMode === 'Never') return false
  if (hasTerminal()) return true
  if (interactiveMode === 'Always')
    throw credentialsFailed(command, 'needs a terminal (interactiveMode Always), but standard input is not one')
  return false
}

function notFound(config: ExecConfig): string {
  return `is not installed or cannot be run${hint(config)}`
}

function hint({ installHint }: ExecConfig): string {
  return installHint === undefined ? '' : `\n\n${installHint}`
}

function isSame(a: Credentials, b: Credentials): boolean {
  return a.token === b.token && a.certificate === b.certificate && a.key === b.key
}
