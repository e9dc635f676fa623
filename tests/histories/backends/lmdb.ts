/** Histories of durable stores in processes that are killed and started again. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RandomChoices } from '../../../packages/base/src/random-choices.ts'
import type {
  ClientList,
  ClientWriteResult,
  HistoryClient,
} from '../../../packages/storage/src/testing/linearizability/history-client.ts'
import type { SeenValue } from '../../../packages/storage/src/testing/linearizability/operation.ts'
import { recordHistory } from '../../../packages/storage/src/testing/linearizability/record-history.ts'
import { briefly, FaultCounts, type HistoryBackend } from './backend.ts'
import type { StoreReply, StoreRequest } from './serve-store.ts'

export interface LmdbHistoryOptions {
  /** Program that runs `serveStore`, with arguments before the folder of the store. */
  readonly program: string
  readonly args?: readonly string[]
  /** How often the process of each history is killed. Default 2. */
  readonly kills?: number
}

export async function openLmdb({ program, args = [], kills = 2 }: LmdbHistoryOptions): Promise<HistoryBackend> {
  const faults = new FaultCounts()
  const recordOne = async (seed: number) => {
    const dir = await mkdtemp(join(tmpdir(), 'krmkit-histories-'))
    const store = new StoreProcess(program, [...args, dir])
    const choices = new RandomChoices(seed, 1000)
    const [clients, operations] = [8, 40]
    const moments = new Set(Array.from({ length: kills }, () => 1 + choices.below(clients * operations - 1)))
    try {
      await store.start()
      return await recordHistory({
        clients: Array.from({ length: clients }, () => store),
        operations,
        seed,
        pause: briefly,
        onProgress: (done) => {
          if (!moments.has(done)) return
          faults.add('killed')
          store.restart()
        },
      })
    } finally {
      await store.stop()
      await rm(dir, { recursive: true, force: true })
    }
  }
  return {
    together: 2,
    record: (seeds) => Promise.all(seeds.map(recordOne)),
    faults: faults.counts,
    close: async () => undefined,
  }
}

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly lose: () => void
}

/** The client of a process that can be killed; calls wait while it starts. */
class StoreProcess implements HistoryClient {
  readonly #program: string
  readonly #args: readonly string[]
  readonly #waiting = new Map<number, Waiting>()
  #child: ChildProcess | undefined
  #ready: Promise<void> = Promise.resolve()
  #lastId = 0

  constructor(program: string, args: readonly string[]) {
    this.#program = program
    this.#args = args
  }

  start(): Promise<void> {
    this.#ready = this.#start()
    return this.#ready
  }

  /** Kills the process without warning and starts it again. */
  restart(): void {
    this.#ready = this.#ready.then(() => this.stop()).then(() => this.#start())
    // The next call reports it.
    this.#ready.catch(() => undefined)
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
    for (const { lose } of this.#waiting.values()) lose()
    this.#waiting.clear()
  }

  async write(write: Parameters<HistoryClient['write']>[0]): Promise<ClientWriteResult> {
    await this.#ready
    return this.#call({ type: 'write', write }, (resolve) => resolve({ outcome: 'unknown' })) as Promise<ClientWriteResult>
  }

  async get(key: string): Promise<SeenValue | undefined> {
    await this.#ready
    return this.#call({ type: 'get', key }, (_, reject) => reject(new Error('killed'))) as Promise<SeenValue | undefined>
  }

  async list(): Promise<ClientList> {
    await this.#ready
    return this.#call({ type: 'list' }, (_, reject) => reject(new Error('killed'))) as Promise<ClientList>
  }

  #call(
    call: StoreRequest['call'],
    lost: (resolve: (result: unknown) => void, reject: (error: Error) => void) => void,
  ): Promise<unknown> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, lose: () => lost(resolve, reject) })
      // A request that the process can no longer take is lost with it.
      this.#child?.send({ id, call } satisfies StoreRequest, () => undefined)
    })
  }

  #start(): Promise<void> {
    const child = fork(this.#program, this.#args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.#child = child
    return new Promise((resolve, reject) => {
      child.on('exit', (code) => reject(new Error(`the process of the store ended with ${code}`)))
      child.on('error', reject)
      child.on('message', (message: StoreReply) => {
        if ('ready' in message) resolve()
        else this.#receive(message)
      })
    })
  }

  #receive({ id, result, error }: Exclude<StoreReply, { ready: true }>): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error === undefined) waiting?.resolve(result)
    else waiting?.lose()
  }
}
