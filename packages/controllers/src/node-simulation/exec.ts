import type { ApiResponse, ProxiedRequest } from '@krmkit/protocol'
import type { ContainerRun } from './container-run.ts'
import { InputQueue, Intake } from './intake.ts'
import type { ExecContext } from './interfaces.ts'
import { containerContext, containerLog } from './log.ts'
import type { ReadonlyPod } from './objects.ts'
import { plainCommand } from './plain-command.ts'
import type { SpdyHandlers, SpdyStream } from './spdy/connection.ts'
import { spdyResponse, type UpgradeOffer, upgradeOffer, upgradeRefused, webSocketResponse } from './upgrade.ts'
import { ServerWebSocket } from './web-socket.ts'
import { byChannel } from './web-socket-reader.ts'

/**
 * `exec` and `attach`: over WebSocket, the first byte of a message is its channel; over SPDY, a header names the type of a
 * stream.
 */

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const
const webSocketProtocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
/** Only the first protocol reports the exit code. */
const spdyProtocols = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io']
const commandNotFound = 127
const killedExitCode = 137

export interface ExecTarget {
  readonly pod: ReadonlyPod
  readonly run: ContainerRun
  readonly nowMs: number
  readonly isAttach: boolean
  readonly searchParams: URLSearchParams
  /** Aborts when the run of the container ends, which also ends the command. */
  readonly ended: AbortSignal
  /** Waits on the clock of the simulation, or until the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Upgrades the connection and runs the command on its streams. */
export function openExec({ headers, signal }: ProxiedRequest, target: ExecTarget): ApiResponse {
  const offer = upgradeOffer(headers)
  const accepted = offer?.kind === 'spdy' ? spdyProtocols : webSocketProtocols
  const protocol = accepted.find((each) => offer?.protocols.includes(each))
  if (offer === undefined || protocol === undefined) return upgradeRefused(offer, accepted)
  if (offer.kind === 'webSocket') return overWebSocket(offer, { protocol, target, signal })
  return spdyResponse(protocol, new CommandStreams(target, protocol), signal)
}

/** The streams of a command. */
interface CommandOutput {
  readonly input: InputQueue
  readonly signal: AbortSignal
  writeOut(data: Uint8Array): void
  writeError(data: Uint8Array): void
  /** Reports the exit status of the command and closes the streams. */
  end(status: ExitStatus): void
}

function overWebSocket(
  offer: Extract<UpgradeOffer, { kind: 'webSocket' }>,
  { protocol, target, signal }: { readonly protocol: string; readonly target: ExecTarget; readonly signal: AbortSignal },
): ApiResponse {
  const intake = new Intake()
  const input = new InputQueue(intake)
  const stopping = new AbortController()
  const socket = new ServerWebSocket({
    data: byChannel((channel, data) => {
      if (channel === channels.stdin) input.push(data)
      else if (channel === channels.close && data[0] === channels.stdin) input.end()
    }),
    whenTaken: (done) => intake.whenTaken(done),
    closed() {
      input.end()
      stopping.abort()
    },
  })
  signal.addEventListener('abort', () => socket.close(), { once: true })
  if (target.searchParams.get('input') !== '1') input.end()
  const send = (channel: number, data: Uint8Array) => socket.send(Buffer.concat([Buffer.from([channel]), data]))
  void runCommand(target, {
    input,
    signal: stopping.signal,
    writeOut: (data) => send(channels.stdout, data),
    writeError: (data) => send(channels.stderr, data),
    end(status) {
      input.discard()
      send(channels.error, Buffer.from(JSON.stringify(status)))
      socket.close()
    },
  })
  return webSocketResponse(offer, protocol, socket)
}

/** The streams that a client opens for a command. The command starts when all streams are open. */
class CommandStreams implements SpdyHandlers {
  readonly #target: ExecTarget
  readonly #protocol: string
  readonly #expected: ReadonlySet<string>
  readonly #streams = new Map<string, SpdyStream>()
  readonly #stopping = new AbortController()

  constructor(target: ExecTarget, protocol: string) {
    this.#target = target
    this.#protocol = protocol
    const { searchParams } = target
    const has = (name: string) => searchParams.get(name) === '1'
    const hasTerminal = has('tty') && protocol !== 'v2.channel.k8s.io'
    this.#expected = new Set([
      'error',
      ...(has('input') ? ['stdin'] : []),
      ...(has('output') ? ['stdout'] : []),
      ...(has('error') ? ['stderr'] : []),
      ...(hasTerminal ? ['resize'] : []),
    ])
  }

  accept(stream: SpdyStream): (() => void) | undefined {
    const type = stream.headers.get('streamtype') ?? ''
    if (!this.#expected.has(type) || this.#streams.has(type)) return undefined
    this.#streams.set(type, stream)
    if (type !== 'stdin') stream.resume()
    return () => {
      if (this.#streams.size === this.#expected.size) this.#run()
    }
  }

  closed(): void {
    this.#stopping.abort()
  }

  #run(): void {
    const stdin = this.#streams.get('stdin')
    const input = stdin?.input ?? new InputQueue(new Intake())
    if (stdin === undefined) input.end()
    void runCommand(this.#target, {
      input,
      signal: this.#stopping.signal,
      writeOut: (data) => this.#streams.get('stdout')?.write(data),
      writeError: (data) => this.#streams.get('stderr')?.write(data),
      end: (status) => {
        stdin?.resume()
        for (const [type, stream] of this.#streams) stream.end(type === 'error' ? this.#statusText(status) : undefined)
      },
    })
  }

  #statusText(status: ExitStatus): string | undefined {
    if (this.#protocol === 'v4.channel.k8s.io') return JSON.stringify(status)
    return status.status === 'Success' ? undefined : status.message
  }
}

async function runCommand(target: ExecTarget, streams: CommandOutput): Promise<void> {
  const { pod, run, nowMs, isAttach, searchParams, ended } = target
  const stopping = new AbortController()
  onAbort(streams.signal, () => stopping.abort())
  const killed = new Promise<number>((resolve) => onAbort(ended, () => resolve(isAttach ? 0 : killedExitCode)))
  onAbort(ended, () => stopping.abort())
  const bytesOf = (data: string | Uint8Array) => (typeof data === 'string' ? Buffer.from(data) : data)
  const context: ExecContext = {
    ...containerContext(pod, run, nowMs),
    command: searchParams.getAll('command'),
    tty: searchParams.get('tty') === '1',
    stdin: streams.input,
    writeOut: (data) => streams.writeOut(bytesOf(data)),
    writeError: (data) => streams.writeError(bytesOf(data)),
    signal: stopping.signal,
  }
  let status: ExitStatus
  try {
    status = exitStatus(await Promise.race([killed, perform(target, context, streams.input)]))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    status = { metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 }
  }
  streams.end(status)
}

function onAbort(signal: AbortSignal, listener: () => void): void {
  if (signal.aborted) listener()
  else signal.addEventListener('abort', listener, { once: true })
}

/** @returns the exit code */
async function perform(target: ExecTarget, context: ExecContext, input: InputQueue): Promise<number> {
  const { pod, run, nowMs, isAttach, searchParams } = target
  const { exec, attach } = run.behavior
  // Without a handler nothing reads the input. It is discarded, because under backpressure the disconnect of the client
  // would go unnoticed.
  if ((isAttach ? attach : exec) === undefined) input.discard()
  if (!isAttach) return exec === undefined ? performPlain(target, context) : exec(context)
  if (attach === undefined) context.writeOut(containerLog(pod, run, { searchParams, nowMs }))
  else await attach(context)
  return 0
}

/** Runs a plain command: `echo`, `sleep` and the like. @returns the exit code */
async function performPlain({ wait }: ExecTarget, { command, signal, writeOut, writeError }: ExecContext): Promise<number> {
  const course = plainCommand(command)
  if (course === undefined) {
    const hint = 'simulated containers run echo, sleep, true, false and exit; a handler of their behavior, exec, runs others'
    writeError(`sh: ${command[0] ?? ''}: command not found: ${hint}\n`)
    return commandNotFound
  }
  if (course.output !== '') writeOut(course.output)
  if (course.durationMs > 0) await wait(course.durationMs, signal)
  return course.exitCode
}

interface ExitStatus {
  readonly metadata: object
  readonly status: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: string
  readonly code?: number
  readonly details?: { readonly causes: readonly { readonly reason: string; readonly message: string }[] }
}

function exitStatus(exitCode: number): ExitStatus {
  if (exitCode === 0) return { metadata: {}, status: 'Success' }
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  }
}
