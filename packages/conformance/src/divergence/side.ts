import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { gunzipSync } from 'node:zlib'
import { protobufBytes, protobufObject } from './protobuf.ts'
import { type Agreement, type Answer, type Scenario, type Step, substitute, tokens, valueAt } from './scenario.ts'

/** A server under comparison. */
export interface Side {
  readonly name: 'krmkit' | 'stock'
  /** `https://host:port` */
  readonly url: string
  /** Ends all connections and the server. */
  stop(): Promise<void>
}

/** Time after which an answer counts as missing, in milliseconds. */
const patience = 70_000
/** How often a request is sent again whose connection has ended. */
const resends = 3
/** Pause between two probes, and the limit of waiting for one to succeed, in milliseconds. */
const probePause = 100
const longestProbe = 8000

/** Runs scenarios against one server. */
export class SideRunner {
  readonly #url: URL
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false })

  readonly #places: Readonly<Record<string, string>>

  /** @param places further placeholders, such as `hook` */
  constructor(url: string, places: Readonly<Record<string, string>> = {}) {
    this.#url = new URL(url)
    this.#places = places
  }

  close(): void {
    this.#agent.destroy()
  }

  /** @param id unique part of the names of this run */
  async begin(scenario: Scenario, id: string): Promise<ScenarioRun> {
    const run = new ScenarioRun((step) => this.#request(step), { id, ns: `ns-${id}`, ...this.#places })
    if (scenario.namespace === false) return run
    const metadata = { name: '{ns}', ...scenario.namespace }
    const path = '/api/v1/namespaces'
    await run.send({ id: 'namespace', method: 'POST', path, body: { json: { metadata } } })
    const account = { metadata: { name: 'default' } }
    await run.send({ id: 'account', method: 'POST', path: `${path}/{ns}/serviceaccounts`, body: { json: account } })
    return run
  }

  #request({ method, path, query, headers, as = 'admin', body }: Step): ClientRequest {
    const sent: Record<string, string | string[]> = { accept: 'application/json', 'user-agent': 'differential/1' }
    for (const [name, value] of Object.entries(headers ?? {})) {
      if (typeof value === 'string') sent[name] = value
      else if (value.length > 0) sent[name] = [...value]
      else delete sent[name]
    }
    if (as !== 'anonymous') sent['authorization'] ??= `Bearer ${tokens[as] ?? as}`
    const bytes = bodyBytes(body)
    if (bytes !== undefined) {
      sent['content-type'] ??=
        body !== undefined && 'protobuf' in body ? 'application/vnd.kubernetes.protobuf' : 'application/json'
      sent['content-length'] = String(bytes.length)
    }
    // The webhooks of a scenario are asked by their whole address.
    const whole = path.startsWith('https://') ? new URL(path) : undefined
    const { hostname, port } = whole ?? this.#url
    const target = (whole?.pathname ?? path) + queryText(query)
    const options: RequestOptions = { hostname, port, method, path: target, headers: sent, agent: this.#agent }
    const outgoing = request({ ...options, rejectUnauthorized: false })
    outgoing.setTimeout(patience, () => outgoing.destroy(new Error(`no answer in ${patience} ms`)))
    outgoing.end(bytes)
    return outgoing
  }
}

function queryText(query: Step['query']): string {
  if (query === undefined || query.length === 0) return ''
  if (typeof query === 'string') return `?${query}`
  return `?${query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')}`
}

function bodyBytes(body: Step['body']): Buffer | undefined {
  if (body === undefined) return undefined
  if ('json' in body) return Buffer.from(JSON.stringify(body.json))
  if ('protobuf' in body) return Buffer.from(protobufBytes(body.protobuf))
  return 'text' in body ? Buffer.from(body.text) : Buffer.from(body.base64, 'base64')
}

interface OpenWatch {
  readonly answer: Answer
  readonly events: Uint8Array[]
  readonly outgoing: ClientRequest
}

/** One scenario on one server. */
export class ScenarioRun {
  readonly #send: (step: Step) => ClientRequest
  readonly #places: Readonly<Record<string, string>>
  readonly #bodies = new Map<string, unknown>()
  readonly #headers = new Map<string, Readonly<Record<string, readonly string[]>>>()
  readonly #watches = new Map<string, OpenWatch>()

  constructor(send: (step: Step) => ClientRequest, places: Readonly<Record<string, string>>) {
    this.#send = send
    this.#places = places
  }

  async send(step: Step): Promise<Answer> {
    const resolved = { ...substitute(step, (name) => this.#resolve(name)), id: step.id }
    for (let left = resends; ; left--) {
      const outgoing = this.#send(resolved)
      try {
        return await this.#receive(step, outgoing)
      } catch (error) {
        // A kept connection may end just when it is used again; everything else is an answer that has to be compared.
        if (left > 0 && outgoing.reusedSocket && isReset(error)) continue
        return { status: 0, headers: {}, body: Buffer.from(String(error)) }
      }
    }
  }

  /** Waits until a step with this answer has taken effect. A probe without success ends after a while. */
  async settle({ settleMs = 0, until }: Step, { status }: Answer): Promise<void> {
    if (status === 0 || status >= 400) return
    if (settleMs > 0) await sleep(settleMs)
    if (until === undefined) return
    const shows = substitute(until.shows, (name) => this.#resolve(name))
    for (const deadline = Date.now() + longestProbe; Date.now() < deadline; await sleep(probePause)) {
      const { body } = await this.send({ ...until.step, id: 'probe' })
      if (Buffer.from(body).toString('utf8').includes(shows)) break
    }
    await this.forgetReviews()
  }

  /** Drops the reviews that webhooks have got so far. */
  async forgetReviews(): Promise<void> {
    await this.send({ id: 'forget', method: 'GET', path: '{hook}/{id}' })
  }

  /** A member of the object at a path, without its times. */
  async member({ path, member }: Agreement): Promise<string> {
    const { body } = await this.send({ id: 'probe', method: 'GET', path })
    return JSON.stringify(valueAt(parsed(body), member) ?? null).replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, '')
  }

  async #receive(step: Step, outgoing: ClientRequest): Promise<Answer> {
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve)
      outgoing.on('error', reject)
    })
    const head = { status: incoming.statusCode ?? 0, headers: incoming.headersDistinct as Record<string, string[]> }
    if (step.watch && head.status === 200) {
      const answer = { ...head, body: new Uint8Array(0) }
      this.#watches.set(step.id, { answer, outgoing, events: collectEvents(incoming) })
      return answer
    }
    const parts: Buffer[] = []
    for await (const part of incoming) parts.push(part as Buffer)
    const answer = { ...head, body: plain(Buffer.concat(parts), incoming.headers['content-encoding']) }
    this.#bodies.set(step.id, parsed(answer.body))
    this.#headers.set(step.id, head.headers)
    return answer
  }

  /** Number of events that the open watches have received so far. */
  get received(): number {
    let sum = 0
    for (const { events } of this.#watches.values()) sum += events.length
    return sum
  }

  get isWatching(): boolean {
    return this.#watches.size > 0
  }

  /** Ends the watches. @returns their answers with their events */
  collect(): Map<string, Answer> {
    const answers = new Map<string, Answer>()
    for (const [id, { answer, events, outgoing }] of this.#watches) {
      outgoing.destroy()
      answers.set(id, { ...answer, events: [...events] })
    }
    this.#watches.clear()
    return answers
  }

  #resolve(name: string): string | undefined {
    const place = this.#places[name]
    if (place !== undefined) return place
    const dot = name.indexOf('.')
    if (dot < 0 || !this.#bodies.has(name.slice(0, dot))) return undefined
    const [step, path] = [name.slice(0, dot), name.slice(dot + 1)]
    if (path.startsWith('headers.')) return this.#headers.get(step)?.[path.slice('headers.'.length)]?.[0] ?? ''
    const value = valueAt(this.#bodies.get(step), path)
    return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** The body without its compression. */
function plain(body: Buffer, encoding: string | undefined): Buffer {
  return encoding === 'gzip' && body.length > 0 ? gunzipSync(body) : body
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
}

function parsed(body: Uint8Array): unknown {
  const text = Buffer.from(body).toString('utf8')
  if (!text.startsWith('{')) return protobufObject(body)
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Splits a stream of watch events. The returned list grows while the stream is open. */
function collectEvents(incoming: IncomingMessage): Uint8Array[] {
  const events: Uint8Array[] = []
  const isProtobuf = (incoming.headers['content-type'] ?? '').startsWith('application/vnd.kubernetes.protobuf')
  const frame = isProtobuf ? prefixedFrame : line
  let rest = Buffer.alloc(0)
  incoming.on('data', (part: Buffer) => {
    rest = Buffer.concat([rest, part])
    for (let found = frame(rest); found !== undefined; found = frame(rest)) {
      const [start, end, next] = found
      if (end > start) events.push(rest.subarray(start, end))
      rest = rest.subarray(next)
    }
  })
  // The watch is cut off when the scenario ends.
  incoming.on('error', () => undefined)
  return events
}

/** Start and end of the first event, and the start of the next; `undefined` while the event is incomplete. */
type Frame = readonly [start: number, end: number, next: number]

function line(bytes: Buffer): Frame | undefined {
  const end = bytes.indexOf(10)
  return end < 0 ? undefined : [0, end, end + 1]
}

/** Frames of protobuf begin with their length in four bytes. */
function prefixedFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < 4) return undefined
  const end = 4 + bytes.readUInt32BE(0)
  return bytes.length < end ? undefined : [4, end, end]
}
