import { type WireAnswer, type WireClient, wireClient } from './client.ts'
import { type AttackedProcess, type AttackedProcessOptions, startAttackedProcess, tokens } from './server-process.ts'

/** A server under attack, restarted when an attack crashes it or makes it unusable. */
export interface Target extends AsyncDisposable {
  process(): AttackedProcess
  admin(): WireClient
  /** Runs `attack` between two measurements of the probe. */
  measured<T>(attack: () => Promise<T>): Promise<Measured<T>>
  /** Restarts the server and runs `prepare` again. */
  restart(): Promise<void>
}

export interface Measured<T> {
  readonly result: T
  readonly stallMs: number
  /** Peak increase of resident memory. */
  readonly peakMiB: number
  /** Whether the process exited or its event loop did not respond to the probe. */
  readonly lost: boolean
}

export interface TargetOptions extends AttackedProcessOptions {
  /** Creates the objects that attacks need. */
  readonly prepare?: (admin: WireClient) => Promise<void>
  /** A request without a response after this time is lost. */
  readonly timeoutMs?: number
}

const MiB = 2 ** 20
/** How long the probe may not respond after a request has timed out. */
const probeLimitMs = 2000

export async function startTarget({ prepare, timeoutMs = 15_000, ...options }: TargetOptions = {}): Promise<Target> {
  let process: AttackedProcess
  let admin: WireClient
  const start = async () => {
    process = await startAttackedProcess(options)
    admin = wireClient(process.url, { token: tokens.admin, timeoutMs })
    await prepare?.(admin)
  }
  const restart = async () => {
    admin.close()
    await process.kill()
    await start()
  }
  await start()
  return {
    process: () => process,
    admin: () => admin,
    restart,
    async measured(attack) {
      if (!process.alive()) await restart()
      const { rssBytes } = await process.probe('begin')
      const from = performance.now()
      const result = await attack()
      const read = await limited(process.probe('read'), probeLimitMs)
      if (read === undefined) {
        await restart()
        return { result, stallMs: performance.now() - from, peakMiB: 0, lost: true }
      }
      return { result, stallMs: read.longestMs, peakMiB: Math.max(0, read.peakBytes - rssBytes) / MiB, lost: false }
    },
    async [Symbol.asyncDispose]() {
      admin.close()
      await process.kill()
    },
  }
}

/** Undefined when the promise is rejected or late. */
async function limited<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  let late: NodeJS.Timeout | undefined
  const timeout = new Promise<undefined>((resolve) => {
    late = setTimeout(() => resolve(undefined), limitMs)
  })
  try {
    return await Promise.race([promise.catch(() => undefined), timeout])
  } finally {
    clearTimeout(late)
  }
}

/** Reasons of a Status that are valid with a code of 500 or more: future versions and missing services. */
const rightServerErrors = new Set(['Timeout', 'ServiceUnavailable', 'ServerTimeout'])

/** Undefined for a proper response; otherwise the problem. */
export function faultOf({ status, text }: Pick<WireAnswer, 'status' | 'text'>): string | undefined {
  if (status === 0) return `no answer: ${text.slice(0, 120)}`
  if (status < 500) return undefined
  const reason = /"reason":"(\w+)"/.exec(text)?.[1] ?? ''
  return status > 500 && rightServerErrors.has(reason) ? undefined : `answered with ${status}: ${text.slice(0, 200)}`
}

export interface ObjectToAttack {
  readonly collection: string
  readonly object: Readonly<Record<string, unknown>> & {
    readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string }
  }
}

/** @throws Error when an object is not created */
export async function store(admin: WireClient, objects: Iterable<ObjectToAttack>): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  for (const { collection, object } of objects) {
    const { status, text } = await admin.send({ method: 'POST', target: collection, headers, body: JSON.stringify(object) })
    if (status !== 201) throw new Error(`an object to attack is answered with ${status}: ${text.slice(0, 300)}`)
  }
}
