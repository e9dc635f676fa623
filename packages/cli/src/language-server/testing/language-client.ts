import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'

/** Speaks the protocol with a language server over the streams of its process, message by message. */

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

export interface PublishedDiagnostics {
  readonly uri: string
  readonly version?: number
  readonly diagnostics: readonly {
    readonly message: string
    readonly code?: string
    readonly severity: number
    readonly range: object
  }[]
}

export class LanguageClient {
  readonly #process: ChildProcessWithoutNullStreams
  readonly #waiting = new Map<number, (message: Message) => void>()
  readonly #published: PublishedDiagnostics[] = []
  readonly messages: Message[] = []
  #onPublished: () => void = () => undefined
  #buffer = Buffer.alloc(0)
  #nextId = 1

  constructor(program: string, args: readonly string[] = []) {
    this.#process = spawn(process.execPath, [program, ...args])
    this.#process.stdout.on('data', (bytes: Buffer) => this.#receive(bytes))
  }

  /** Sends a request. @throws Error with the message of an error response */
  async request<T>(method: string, params: unknown): Promise<T> {
    const id = this.#nextId++
    const response = new Promise<Message>((resolve) => this.#waiting.set(id, resolve))
    this.#send({ id, method, params })
    const { result, error } = await response
    if (error !== undefined) throw new Error(error.message)
    return result as T
  }

  notify(method: string, params: unknown): void {
    this.#send({ method, params })
  }

  /** Starts a session. */
  async start(folders: readonly string[] = [], initializationOptions: object = {}): Promise<{ capabilities: object }> {
    const workspaceFolders = folders.map((uri) => ({ uri, name: uri }))
    const parameters = { processId: process.pid, rootUri: null, workspaceFolders, capabilities: {}, initializationOptions }
    const result = await this.request<{ capabilities: object }>('initialize', parameters)
    this.notify('initialized', {})
    return result
  }

  open(uri: string, text: string, languageId = 'yaml'): void {
    this.notify('textDocument/didOpen', { textDocument: { uri, languageId, version: 1, text } })
  }

  /** Replaces a range of a document. */
  edit(uri: string, version: number, { line, from, to, text }: { line: number; from: number; to: number; text: string }): void {
    const range = { start: { line, character: from }, end: { line, character: to } }
    this.notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ range, text }] })
  }

  /** The diagnostics of a document that satisfy a condition, past ones included. */
  async diagnostics(uri: string, fits: (found: PublishedDiagnostics) => boolean = () => true): Promise<PublishedDiagnostics> {
    for (;;) {
      const found = this.#published.findLast((each) => each.uri === uri)
      if (found !== undefined && fits(found)) return found
      await new Promise<void>((resolve) => {
        this.#onPublished = resolve
      })
    }
  }

  /** How often diagnostics of a document were sent. */
  count(uri: string): number {
    return this.#published.filter((each) => each.uri === uri).length
  }

  /** Ends the session. @returns the exit code of the process */
  async stop(): Promise<number | null> {
    const exited = once(this.#process, 'exit')
    await this.request('shutdown', null)
    this.notify('exit', null)
    const [code] = (await exited) as [number | null]
    return code
  }

  #send(message: object): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }

  #receive(bytes: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, bytes])
    for (;;) {
      const end = this.#buffer.indexOf('\r\n\r\n')
      const length = Number(/Content-Length: (\d+)/i.exec(this.#buffer.subarray(0, Math.max(end, 0)).toString())?.[1])
      if (end < 0 || this.#buffer.length < end + 4 + length) return
      const message = JSON.parse(this.#buffer.subarray(end + 4, end + 4 + length).toString()) as Message
      this.#buffer = this.#buffer.subarray(end + 4 + length)
      this.#handle(message)
    }
  }

  #handle(message: Message): void {
    this.messages.push(message)
    if (message.method === 'textDocument/publishDiagnostics') {
      this.#published.push(message.params as PublishedDiagnostics)
      this.#onPublished()
    } else if (message.id !== undefined && message.method === undefined) this.#waiting.get(message.id)?.(message)
  }
}
