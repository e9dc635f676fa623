/**
 * The worker processes of a server, seen from the writer.
 *
 *     starting --ready--> serving --close--> draining --> ended
 *         └──────────────────┴── exit ──> starting again, after a pause that grows while starts fail
 */
import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import type { AuditEvent } from '@krmkit/apiserver/audit'
import { systemClock } from '@krmkit/meta'
import { CliError } from '../cli-error.ts'
import type { Log } from '../log.ts'
import type { MessageToWorker, MessageToWriter, WorkerStart } from './messages.ts'

/** The program that runs a worker: it calls `runWorker`. */
export interface WorkerProgram {
  readonly file: string
  readonly args: readonly string[]
}

export interface WorkerPoolOptions {
  readonly program: WorkerProgram
  readonly size: number
  readonly log: Log
  /** Receives the audit events of all workers. Rejects when they are lost. */
  readonly audit: (events: readonly AuditEvent[]) => Promise<void>
}

/** Connections that wait for a worker; more are closed. */
const maxWaiting = 4096
const firstPauseMs = 100
const longestPauseMs = 30_000
/** A worker that lived so long has started well. */
const settledMs = 10_000
const metricsTimeoutMs = 5_000
/** How long a worker may take to end its connections. */
const drainMs = 15_000

interface WorkerProcess {
  readonly child: ChildProcess
  readonly startedMs: number
  isReady: boolean
  connections: number
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #workers = new Set<WorkerProcess>()
  readonly #waiting = new Set<Socket>()
  readonly #metrics = new Map<number, (text: string) => void>()
  readonly #timers = new Set<() => void>()
  #start: WorkerStart | undefined
  #pauseMs = firstPauseMs
  #lastId = 0
  #isClosing = false
  #onReady: (() => void) | undefined

  constructor(options: WorkerPoolOptions) {
    this.#options = options
  }

  /** Process ids of the workers that serve. */
  get pids(): readonly number[] {
    return [...this.#workers].flatMap(({ isReady, child: { pid } }) => (isReady && pid !== undefined ? [pid] : []))
  }

  /** Starts the workers. Resolves when all serve. @throws CliError when they cannot be started */
  async start(start: WorkerStart): Promise<void> {
    this.#start = start
    const { size } = this.#options
    let failures = 0
    const ready = new Promise<void>((resolve, reject) => {
      this.#onReady = () => {
        if (this.pids.length === size) resolve()
      }
      for (let count = 0; count < size; count++) {
        this.#fork(() => {
          failures++
          if (failures === size) reject(new CliError({ code: 'StartFailed', message: 'no worker of --threads could be started' }))
        })
      }
    })
    await ready
  }

  /** Passes a connection to the worker that has the fewest. */
  readonly pass = (socket: Socket): void => {
    let chosen: WorkerProcess | undefined
    for (const worker of this.#workers) {
      if (worker.isReady && (chosen === undefined || worker.connections < chosen.connections)) chosen = worker
    }
    if (chosen !== undefined) this.#pass(socket, chosen)
    else if (this.#isClosing || this.#waiting.size >= maxWaiting) socket.destroy()
    else this.#wait(socket)
  }

  /** The metrics of the workers that serve, as texts. */
  async metrics(): Promise<readonly string[]> {
    const serving = [...this.#workers].filter(({ isReady }) => isReady)
    const texts = await Promise.all(serving.map((worker) => this.#metricsOf(worker)))
    return texts.filter((text) => text !== undefined)
  }

  /** Lets the workers end their connections, and ends them. */
  async close(): Promise<void> {
    this.#isClosing = true
    for (const cancel of this.#timers) cancel()
    for (const socket of this.#waiting) socket.destroy()
    await Promise.all([...this.#workers].map((worker) => this.#end(worker)))
  }

  #fork(onFailed?: () => void): void {
    const { program, log } = this.#options
    const child = fork(program.file, program.args, { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const worker: WorkerProcess = { child, startedMs: performance.now(), isReady: false, connections: 0 }
    this.#workers.add(worker)
    child.on('message', (message: MessageToWriter) => this.#receive(worker, message))
    child.on('error', (error) => log.error('a worker failed', error))
    child.once('exit', (code, signal) => {
      this.#workers.delete(worker)
      if (this.#isClosing) return
      log.error(`worker ${child.pid} ended with ${signal ?? `code ${code}`}; starting another one`)
      if (!worker.isReady) onFailed?.()
      this.#restart(worker)
    })
    if (this.#start !== undefined) send(worker, { type: 'start', start: this.#start })
  }

  #restart({ startedMs }: WorkerProcess): void {
    if (performance.now() - startedMs >= settledMs) this.#pauseMs = firstPauseMs
    const cancel = systemClock.setTimeout(() => {
      this.#timers.delete(cancel)
      this.#fork()
    }, this.#pauseMs)
    this.#timers.add(cancel)
    this.#pauseMs = Math.min(longestPauseMs, this.#pauseMs * 2)
  }

  #receive(worker: WorkerProcess, message: MessageToWriter): void {
    switch (message.type) {
      case 'ready':
        worker.isReady = true
        this.#onReady?.()
        for (const socket of this.#waiting) this.pass(socket)
        return
      case 'connectionClosed':
        worker.connections--
        return
      case 'metrics':
        this.#metrics.get(message.id)?.(message.text)
        return
      case 'audit':
        void this.#audit(worker, message)
    }
  }

  async #audit(
    worker: WorkerProcess,
    { id, events }: { readonly id: number; readonly events: readonly AuditEvent[] },
  ): Promise<void> {
    const problem = await this.#options.audit(events).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    send(worker, { type: 'audited', id, problem })
  }

  #pass(socket: Socket, worker: WorkerProcess): void {
    this.#waiting.delete(socket)
    worker.connections++
    const message: MessageToWorker = { type: 'connection' }
    worker.child.send(message, socket, {}, (error) => {
      if (error !== null) socket.destroy()
    })
  }

  #wait(socket: Socket): void {
    if (this.#waiting.has(socket)) return
    this.#waiting.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => this.#waiting.delete(socket))
  }

  #metricsOf(worker: WorkerProcess): Promise<string | undefined> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      const settle = (text: string | undefined) => {
        this.#metrics.delete(id)
        cancel()
        resolve(text)
      }
      const cancel = systemClock.setTimeout(() => settle(undefined), metricsTimeoutMs)
      this.#metrics.set(id, settle)
      send(worker, { type: 'metrics', id })
    })
  }

  #end(worker: WorkerProcess): Promise<void> {
    const { child } = worker
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = systemClock.setTimeout(() => child.kill('SIGKILL'), drainMs)
      child.once('exit', () => {
        cancel()
        resolve()
      })
      send(worker, { type: 'close' })
    })
  }
}

/** A worker whose channel is closed has ended, which its exit reports. */
function send({ child }: WorkerProcess, message: MessageToWorker): void {
  if (child.connected) child.send(message, () => undefined)
}
