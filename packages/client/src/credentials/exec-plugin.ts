import type { Clock } from '@krmkit/meta'
import type { CredentialSource, Credentials } from './credential-source.ts'
import type { ExecCluster, ExecConfig } from './exec-config.ts'
import { credentialsFailed, type ExecAnswer, execInfo, readExecCredential } from './exec-credential.ts'
import { type RunCommand, runCommand } from './run-command.ts'

export interface ExecOptions {
  readonly cluster: ExecCluster
  /** Environment that the command inherits. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Name of the variable that tells the command what it runs for: `KUBERNETES_EXEC_INFO`. */
  readonly infoName: string
  readonly clock: Pick<Clock, 'now'>
  /** Whether a person sits at standard input. Default: whether it is a terminal. */
  readonly hasTerminal?: () => boolean
  /** Default: runs the command on this machine. */
  readonly run?: RunCommand
}

/**
 * Credentials that a command gets. It runs when they are first needed, when they have expired and when the server refuses
 * them; requests that need them at the same time share one run.
 *
 * @see API protocol specification, 5.8
 */
export function execCredentials(config: ExecConfig, options: ExecOptions): CredentialSource {
  const { clock, env, infoName, cluster, run = runCommand } = options
  const hasTerminal = options.hasTerminal ?? (() => process.stdin.isTTY === true)
  const ending = new AbortController()
  let known: ExecAnswer | undefined
  let running: Promise<ExecAnswer> | undefined

  const isGood = ({ expiresAt }: ExecAnswer) => expiresAt === undefined || clock.now() <= expiresAt

  const execute = async (): Promise<ExecAnswer> => {
    const interactive = isInteractive(config, hasTerminal)
    const own = Object.fromEntries(config.env.map(({ name, value }) => [name, value]))
    const outcome = await run(config.command, config.args, {
      env: { ...env, ...own, [infoName]: execInfo(config, { cluster, interactive }) },
      interactive,
      signal: ending.signal,
    })
    if (outcome.kind === 'missing') throw credentialsFailed(config.command, missing(config), outcome.cause)
    if (outcome.kind === 'failed') throw credentialsFailed(config.command, `failed (${outcome.how})${hint(config)}`)
    known = readExecCredential(outcome.output, config)
    return known
  }
  const renew = (): Promise<ExecAnswer> => {
    running ??= execute().finally(() => {
      running = undefined
    })
    return running
  }

  return {
    async get() {
      return (known !== undefined && isGood(known) ? known : await renew()).credentials
    },
    async refused(credentials) {
      // Somebody else may have got others already.
      if (known !== undefined && known.credentials !== credentials) return true
      known = undefined
      return !isSame((await renew()).credentials, credentials)
    },
    close() {
      ending.abort()
    },
  }
}

function isInteractive({ interactiveMode, command }: ExecConfig, hasTerminal: () => boolean): boolean {
  if (interactiveMode === 'Never') return false
  if (hasTerminal()) return true
  if (interactiveMode === 'Always')
    throw credentialsFailed(command, 'needs a terminal to ask at (interactiveMode Always), and standard input is none')
  return false
}

function missing(config: ExecConfig): string {
  return `is not installed, or cannot be run${hint(config)}`
}

function hint({ installHint }: ExecConfig): string {
  return installHint === undefined ? '' : `\n\n${installHint}`
}

function isSame(one: Credentials, other: Credentials): boolean {
  return one.token === other.token && one.certificate === other.certificate && one.key === other.key
}
