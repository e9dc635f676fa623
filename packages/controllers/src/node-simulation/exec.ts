import type { ApiResponse, ProxiedRequest } from '@krmkit/protocol'
import type { ContainerRun } from './container-run.ts'
import type { ExecContext } from './interfaces.ts'
import { containerContext, containerLog } from './log.ts'
import type { ReadonlyPod } from './objects.ts'
import { acceptKey, ServerWebSocket } from './web-socket.ts'

/** `exec` and `attach` over WebSocket: the first byte of a message names its channel. */

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const commandNotFound = 127

export interface ExecTarget {
  readonly pod: ReadonlyPod
  readonly run: ContainerRun
  readonly nowMs: number
  readonly isAttach: boolean
  readonly searchParams: URLSearchParams
}

/** Upgrades the connection; refuses other protocols than WebSocket. */
export function openExec({ headers, signal }: ProxiedRequest, target: ExecTarget): ApiResponse {
  const offered = valuesOf(headers['sec-websocket-protocol']).flatMap((value) => value.split(',').map((each) => each.trim()))
  const protocol = protocols.find((each) => offered.includes(each))
  const [key] = valuesOf(headers['sec-websocket-key'])
  if (protocol === undefined || key === undefined) {
    const message = `unable to upgrade: simulated nodes speak ${protocols.join(' and ')}`
    return { status: 400, headers: { 'content-type': 'text/plain' }, body: { kind: 'bytes', bytes: Buffer.from(message) } }
  }
  const input = new InputStream()
  const stopping = new AbortController()
  const socket = new ServerWebSocket({
    message(data) {
      if (data[0] === channels.stdin) input.push(data.subarray(1))
      else if (data[0] === channels.close && data[1] === channels.stdin) input.end()
    },
    closed() {
      input.end()
      stopping.abort()
    },
  })
  signal.addEventListener('abort', () => socket.close(), { once: true })
  if (target.searchParams.get('input') !== '1') input.end()
  void runCommand(target, { socket, input, signal: stopping.signal })
  return {
    status: 101,
    headers: {
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-accept': acceptKey(key),
      'sec-websocket-protocol': protocol,
    },
    body: { kind: 'connection', connection: socket.connection },
  }
}

interface Streams {
  readonly socket: ServerWebSocket
  readonly input: InputStream
  readonly signal: AbortSignal
}

async function runCommand(target: ExecTarget, { socket, input, signal }: Streams): Promise<void> {
  const { pod, run, nowMs, searchParams } = target
  const send = (channel: number) => (data: string | Uint8Array) =>
    socket.send(Buffer.concat([Buffer.from([channel]), typeof data === 'string' ? Buffer.from(data) : data]))
  const context: ExecContext = {
    ...containerContext(pod, run, nowMs),
    command: searchParams.getAll('command'),
    tty: searchParams.get('tty') === '1',
    stdin: input,
    writeOut: send(channels.stdout),
    writeError: send(channels.stderr),
    signal,
  }
  let status: object
  try {
    status = exitStatus(await perform(target, context))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    status = { metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 }
  }
  send(channels.error)(JSON.stringify(status))
  socket.close()
}

/** @returns the exit code */
async function perform({ pod, run, nowMs, isAttach, searchParams }: ExecTarget, context: ExecContext): Promise<number> {
  const { exec, attach } = run.behavior
  if (!isAttach) {
    if (exec !== undefined) return exec(context)
    context.writeError(`sh: ${context.command[0] ?? ''}: command not found\n`)
    return commandNotFound
  }
  if (attach === undefined) context.writeOut(containerLog(pod, run, { searchParams, nowMs }))
  else await attach(context)
  return 0
}

function exitStatus(exitCode: number): object {
  if (exitCode === 0) return { metadata: {}, status: 'Success' }
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  }
}

/** Standard input: chunks in the order of their arrival. */
class InputStream implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = []
  #isEnded = false
  #wake: () => void = () => undefined

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#wake()
  }

  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) yield chunk
      else if (this.#isEnded) return
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }
}

function valuesOf(header: string | readonly string[] | undefined): readonly string[] {
  if (header === undefined) return []
  return typeof header === 'string' ? [header] : header
}
