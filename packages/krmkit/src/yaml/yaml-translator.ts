import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { YamlTranslator } from '@krmkit/apiserver'
import { ApiError, type Clock, systemClock } from '@krmkit/meta'
import { DecodeError, type YamlAsJson } from '@krmkit/schema'
import type { YamlReply, YamlTask } from './messages.ts'

/**
 * Reads YAML in a thread of its own, which is started when it is first needed and ended when it has had nothing to do.
 *
 *     idle ──toJson──▶ busy ──reply──▶ idle ──10 s──▶ (ended)
 *                       └── time limit, heap limit, crash ──▶ (ended; the task is refused, the next one starts a new thread)
 */

export interface YamlTranslatorOptions {
  /** JavaScript that runs in the thread. Default: the file beside this one, where the package was built. */
  readonly worker?: string
  /** Heap of the thread, in MiB. Documents that take more are refused with 413. Default 128. */
  readonly heapMb?: number
  /** Time for one document, in milliseconds. Documents that take more are refused with 413. Default 10 000. */
  readonly timeoutMs?: number
  /** Documents that may wait; further ones are refused with 429. Default 16. */
  readonly maxWaiting?: number
  /** The thread ends after so long without work, and gives its memory back. Default 10 000. */
  readonly idleMs?: number
  readonly clock?: Clock
}

export interface ClosableTranslator extends YamlTranslator {
  /** Ends the thread; tasks under way are refused. */
  close(): Promise<void>
}

/** The file of the thread, where the package was built or bundled; `undefined` for its sources. */
export function yamlWorkerFile(): string | undefined {
  const files = ['./yaml-worker.cjs', './yaml-worker.js'].map((name) => fileURLToPath(new URL(name, import.meta.url)))
  return files.find((file) => existsSync(file))
}

/** @throws Error where there is no file for the thread */
export function createYamlTranslator(options: YamlTranslatorOptions = {}): ClosableTranslator {
  const worker = options.worker ?? yamlWorkerFile()
  if (worker === undefined) throw new Error('the YAML worker is not built: name its file')
  return new ThreadTranslator(worker, options)
}

interface Waiting {
  readonly task: YamlTask
  readonly signal: AbortSignal
  resolve(result: YamlAsJson): void
  reject(error: unknown): void
}

class ThreadTranslator implements ClosableTranslator {
  readonly #file: string
  readonly #heapMb: number
  readonly #timeoutMs: number
  readonly #maxWaiting: number
  readonly #idleMs: number
  readonly #clock: Clock
  readonly #waiting: Waiting[] = []
  #thread: Worker | undefined
  #current: Waiting | undefined
  #cancelTimer: (() => void) | undefined
  #closed = false

  constructor(
    file: string,
    { heapMb = 128, timeoutMs = 10_000, maxWaiting = 16, idleMs = 10_000, clock = systemClock }: YamlTranslatorOptions,
  ) {
    this.#file = file
    this.#heapMb = heapMb
    this.#timeoutMs = timeoutMs
    this.#maxWaiting = maxWaiting
    this.#idleMs = idleMs
    this.#clock = clock
  }

  toJson(
    yaml: Uint8Array,
    { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<YamlAsJson> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw ApiError.serviceUnavailable('the server is shutting down')
      if (this.#waiting.length >= this.#maxWaiting) {
        throw ApiError.tooManyRequests('too many large YAML documents are waiting to be read', 1)
      }
      this.#waiting.push({ task: { yaml, maxBytes }, signal, resolve, reject })
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    const stopped = ApiError.serviceUnavailable('the server is shutting down')
    for (const { reject } of this.#waiting.splice(0)) reject(stopped)
    await this.#end(stopped)
  }

  #next(): void {
    if (this.#current !== undefined) return
    const next = this.#waiting.shift()
    this.#cancelTimer?.()
    if (next === undefined) {
      this.#cancelTimer = this.#clock.setTimeout(() => void this.#end(undefined), this.#idleMs)
      return
    }
    if (next.signal.aborted) {
      next.reject(ApiError.timeout('the request ended while its body was waiting to be read', 0))
      this.#next()
      return
    }
    this.#current = next
    this.#cancelTimer = this.#clock.setTimeout(
      () => void this.#end(ApiError.requestEntityTooLarge(`the YAML takes more than ${this.#timeoutMs} ms to read`)),
      this.#timeoutMs,
    )
    this.#thread ??= this.#start()
    const yaml = next.task.yaml.slice()
    this.#thread.postMessage({ ...next.task, yaml } satisfies YamlTask, [yaml.buffer])
  }

  #start(): Worker {
    const thread = new Worker(this.#file, {
      resourceLimits: { maxOldGenerationSizeMb: this.#heapMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
      // Nothing of the process belongs into it.
      argv: [],
      env: {},
      execArgv: [],
    })
    thread.unref()
    thread.on('message', (reply: YamlReply) => this.#answer(thread, reply))
    thread.on('error', (error: NodeJS.ErrnoException) => this.#lost(thread, this.#refusalOf(error)))
    thread.on('exit', () => this.#lost(thread, ApiError.serviceUnavailable('the thread that reads YAML ended early')))
    return thread
  }

  #refusalOf(error: NodeJS.ErrnoException): ApiError {
    return error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? ApiError.requestEntityTooLarge(`the YAML takes more than ${this.#heapMb} MiB of memory to read`)
      : ApiError.serviceUnavailable('the thread that reads YAML failed')
  }

  #answer(thread: Worker, reply: YamlReply): void {
    if (thread !== this.#thread) return
    const current = this.#current
    this.#current = undefined
    if ('refused' in reply) {
      const { code, message, place } = reply.refused
      current?.reject(new DecodeError(code, message, place))
    } else current?.resolve(reply)
    this.#next()
  }

  /** The thread ended by itself. */
  #lost(thread: Worker, error: ApiError): void {
    if (thread !== this.#thread) return
    this.#thread = undefined
    this.#fail(error)
  }

  /** Ends the thread; what is under way is refused with `error`. */
  async #end(error: ApiError | undefined): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#fail(error)
    await thread?.terminate()
  }

  #fail(error: ApiError | undefined): void {
    const current = this.#current
    this.#current = undefined
    if (error !== undefined) current?.reject(error)
    if (this.#waiting.length > 0) this.#next()
  }
}
