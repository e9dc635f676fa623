import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { YamlTranslator } from '@krmkit/apiserver'
import { ApiError, type Clock, systemClock } from '@krmkit/meta'
import { DecodeError } from '@krmkit/schema'
import type { YamlAsJson } from '@krmkit/schema/yaml'
import type { YamlReply, YamlTask } from './messages.ts'

/**
 * Converts YAML to JSON in a worker thread, which is started on demand and terminated when idle.
 *
 *     idle ──toJson──▶ busy ──reply──▶ idle ──10 s──▶ (ended)
 *                       └── time limit, heap limit, crash ──▶ (ended; the task is rejected, the next one starts a new thread)
 */

export interface YamlTranslatorOptions {
  /** Path of the worker script. Default: the built file of this package. */
  readonly worker?: string
  /** Heap limit of the thread, in MiB. Documents that need more are rejected with 413. Default 128. */
  readonly heapMb?: number
  /** Time limit per document, in milliseconds. Slower documents are rejected with 413. Default 10 000. */
  readonly timeoutMs?: number
  /** Maximum number of queued documents; further documents are rejected with 429. Default 16. */
  readonly maxWaiting?: number
  /** Idle time after which the thread ends and frees its memory, in milliseconds. Default 10 000. */
  readonly idleMs?: number
  readonly clock?: Clock
}

export interface ClosableTranslator extends YamlTranslator {
  /** Ends the thread and rejects all tasks with 503. */
  close(): Promise<void>
}

/**
 * Returns the path of the worker script of the built or bundled package; undefined when running from sources.
 *
 * @example
 * import { createYamlTranslator, yamlWorkerFile } from 'krmkit'
 * const yamlTranslator = yamlWorkerFile() === undefined ? undefined : createYamlTranslator()
 */
export function yamlWorkerFile(): string | undefined {
  const files = ['./yaml-worker.cjs', './yaml-worker.js'].map((name) => fileURLToPath(new URL(name, import.meta.url)))
  return files.find((file) => existsSync(file))
}

/**
 * Creates a translator of YAML request bodies for `createApiServer({ yamlTranslator })`.
 *
 * @throws Error without a worker script.
 * @example
 * import { createApiServer, createYamlTranslator, memoryStorage } from 'krmkit'
 * const yamlTranslator = createYamlTranslator({ heapMb: 64 })
 * const server = await createApiServer({ storage: memoryStorage(), yamlTranslator })
 */
export function createYamlTranslator(options: YamlTranslatorOptions = {}): ClosableTranslator {
  const worker = options.worker ?? yamlWorkerFile()
  if (worker === undefined) throw new Error('the YAML worker is not built: set the option worker')
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
    // A copy, because the buffer is transferred; `slice` of a Buffer does not copy.
    const yaml = new Uint8Array(next.task.yaml)
    this.#thread.postMessage({ ...next.task, yaml } satisfies YamlTask, [yaml.buffer])
  }

  #start(): Worker {
    const thread = new Worker(this.#file, {
      resourceLimits: { maxOldGenerationSizeMb: this.#heapMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
      // The worker does not inherit arguments and environment of the process.
      argv: [],
      env: {},
      execArgv: [],
    })
    thread.unref()
    thread.on('message', (reply: YamlReply) => this.#reply(thread, reply))
    thread.on('error', (error: NodeJS.ErrnoException) => this.#lost(thread, this.#errorOf(error)))
    thread.on('exit', () => this.#lost(thread, ApiError.serviceUnavailable('the thread that reads YAML ended early')))
    return thread
  }

  #errorOf(error: NodeJS.ErrnoException): ApiError {
    return error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? ApiError.requestEntityTooLarge(`the YAML takes more than ${this.#heapMb} MiB of memory to read`)
      : ApiError.serviceUnavailable('the thread that reads YAML failed')
  }

  #reply(thread: Worker, reply: YamlReply): void {
    if (thread !== this.#thread) return
    const current = this.#current
    this.#current = undefined
    if ('refused' in reply) {
      current?.reject(new DecodeError(reply.refused))
    } else current?.resolve(reply)
    this.#next()
  }

  /** Handles an unexpected end of the thread. */
  #lost(thread: Worker, error: ApiError): void {
    if (thread !== this.#thread) return
    this.#thread = undefined
    this.#fail(error)
  }

  /** Ends the thread and rejects the active task with `error`. */
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
