import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { CertificationSubject, ClientAdapter, ConnectedClient, InformerAdapter, RunningInformer } from './interfaces.ts'
import type { Description, InformerState, LineRequest, LineResponse } from './line-protocol.ts'

export interface ProcessSubjectOptions {
  readonly name: string
  readonly command: string
  readonly args?: readonly string[]
  readonly cwd?: string
  /** Environment variables. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** A client under test in another process. */
export interface ProcessSubject extends CertificationSubject, AsyncDisposable {}

/** An error reported by the program. */
class ProgramError extends Error {
  override readonly name = 'ProgramError'
  readonly code: number | undefined

  constructor({ message, code }: { readonly message: string; readonly code?: number }) {
    super(message)
    this.code = code
  }
}

/**
 * Starts a program in any language that contains the client under test, and communicates with it over stdin and stdout: one
 * JSON object per line, as described in the certification guide.
 *
 * @throws Error when the program does not start, or its description is invalid
 * @example
 * import { certify, formatCertification, startProcessSubject } from '@krmkit/testing/certification'
 * await using subject = await startProcessSubject({ name: 'client-go', command: './certify-client-go' })
 * console.log(formatCertification(await certify(subject)))
 */
export async function startProcessSubject(options: ProcessSubjectOptions): Promise<ProcessSubject> {
  const program = new Program(options)
  try {
    const { informer, client } = (await program.request('describe')) as Description
    return {
      name: options.name,
      ...(informer === undefined ? {} : { informer: informerOf(program, informer) }),
      ...(client === undefined ? {} : { client: clientOf(program, client) }),
      [Symbol.asyncDispose]: () => program.close(),
    }
  } catch (error) {
    await program.close()
    throw error
  }
}

function informerOf(program: Program, { features = {} }: NonNullable<Description['informer']>): InformerAdapter {
  return {
    features,
    async start(options): Promise<RunningInformer> {
      const informer = await program.request('start', options)
      const state = async () => (await program.request('state', { informer })) as InformerState
      const first = await state()
      return {
        hasSynced: async () => (await state()).hasSynced,
        objects: async () => (await state()).objects,
        ...(first.events === undefined ? {} : { events: async () => (await state()).events ?? [] }),
        stop: async () => void (await program.request('stop', { informer })),
      }
    },
  }
}

function clientOf(program: Program, names: readonly string[]): ClientAdapter {
  return {
    async connect(server, namespace): Promise<ConnectedClient> {
      const client = await program.request('connect', { server, namespace })
      const method = (name: string) => [name, (...all: unknown[]) => program.request('call', { client, name, arguments: all })]
      const close = async () => void (await program.request('close', { client }))
      return { ...(Object.fromEntries(names.map(method)) as ConnectedClient), close }
    },
  }
}

interface Pending {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** Number of characters of stderr, from its end, that errors show. */
const shownCharacters = 2000

class Program {
  readonly #child: ChildProcess
  readonly #exited: Promise<void>
  readonly #pending = new Map<number, Pending>()
  #id = 0
  #stderr = ''
  #failure: Error | undefined

  constructor({ command, args = [], cwd, env }: ProcessSubjectOptions) {
    const options = { stdio: 'pipe' as const, ...(cwd === undefined ? {} : { cwd }), ...(env === undefined ? {} : { env }) }
    const child = spawn(command, args, options)
    this.#child = child
    child.stdin.on('error', (error) => this.#fail(error))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-shownCharacters)
    })
    createInterface(child.stdout).on('line', (line) => this.#receive(line))
    this.#exited = new Promise((resolve) => {
      child.once('error', (error) => {
        this.#fail(error)
        resolve()
      })
      child.once('close', (code) => {
        this.#fail(new Error(`the program ended with ${code}: ${this.#stderr.trim()}`))
        resolve()
      })
    })
  }

  request(method: LineRequest['method'], params?: unknown): Promise<unknown> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    const id = ++this.#id
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      this.#child.stdin!.write(`${JSON.stringify({ id, method, params } satisfies LineRequest)}\n`)
    })
  }

  /** Closes stdin, and kills the program if it does not exit. */
  async close(): Promise<void> {
    this.#child.stdin!.end()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5000)
    await this.#exited
    clearTimeout(timer)
  }

  #receive(line: string): void {
    if (!line.startsWith('{')) return
    const { id, result, error } = JSON.parse(line) as LineResponse
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (error === undefined) pending?.resolve(result)
    else pending?.reject(new ProgramError(error))
  }

  #fail(error: Error): void {
    this.#failure ??= error
    for (const { reject } of this.#pending.values()) reject(this.#failure)
    this.#pending.clear()
  }
}
