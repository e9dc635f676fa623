import type { CallName, Calls, FromWorker, ToWorker } from '../messages.ts'

/** Output of a running command. */
export type OnOutput = (text: string, isError: boolean) => void

/** A call that can be stopped. */
export interface RunningCall<T> {
  readonly result: Promise<T>
  stop(): void
}

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  readonly onOutput: OnOutput
}

/** Calls functions of the worker. */
export class WorkerClient {
  readonly #worker: Worker
  readonly #pending = new Map<number, Pending>()
  #lastId = 0

  constructor(url: string) {
    this.#worker = new Worker(url, { type: 'module' })
    this.#worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#receive(data)
    this.#worker.onerror = (event) => {
      for (const { reject } of this.#pending.values()) reject(new Error(`the worker failed: ${event.message}`))
      this.#pending.clear()
    }
  }

  /** @throws Error with the message of the worker */
  call<N extends CallName>(name: N, given: Calls[N]['arguments']): Promise<Calls[N]['result']> {
    return this.start(name, given, () => undefined).result
  }

  /** Starts a call with output, such as a watch. */
  start<N extends CallName>(name: N, given: Calls[N]['arguments'], onOutput: OnOutput): RunningCall<Calls[N]['result']> {
    const id = ++this.#lastId
    const result = new Promise<Calls[N]['result']>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject, onOutput })
    })
    this.#post({ kind: 'call', id, name, arguments: given })
    return { result, stop: () => this.#post({ kind: 'stop', id }) }
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message)
  }

  #receive(message: FromWorker): void {
    const pending = this.#pending.get(message.id)
    if (message.kind === 'output') {
      pending?.onOutput(message.text, message.isError)
      return
    }
    this.#pending.delete(message.id)
    if (message.kind === 'result') pending?.resolve(message.value)
    else pending?.reject(new Error(message.message))
  }
}
