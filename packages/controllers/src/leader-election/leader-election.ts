import type { DeepReadonly } from '@krmkit/meta'
import { formatMicroTime } from '@krmkit/meta/time'
import { EventRecorder } from '../events/event-recorder.ts'
import { ignoreNotFound } from '../framework/api-errors.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { type LeaseCandidate, oldestEmulationVersion } from './election.ts'
import { candidates } from './election-controller.ts'
import { HeldLease } from './leader-lease.ts'

/** Durations of leader election, with the names and defaults of kube-controller-manager. */
export interface LeaderElectionTimes {
  /** Time without a renewal after which others may take the Lease, in milliseconds, whole seconds. Default 15 seconds. */
  readonly leaseDurationMs?: number
  /** Time without a successful renewal after which a leader stops, in milliseconds. Default 10 seconds. */
  readonly renewDeadlineMs?: number
  /** Time between attempts, in milliseconds. Default 2 seconds. */
  readonly retryPeriodMs?: number
}

export interface LeaderElectionOptions extends LeaderElectionTimes {
  readonly leaseName: string
  /** Default `kube-system`. */
  readonly leaseNamespace?: string
  /** Unique name of this process among the candidates. */
  readonly identity: string
  /** Versions that a coordinated election compares. Absent: the first process that takes the Lease leads. */
  readonly coordinated?: { readonly binaryVersion: string; readonly emulationVersion: string }
  /** Starts the work of the leader. Must stop when the result is disposed; queues of `context` stop then, too. */
  lead(context: ControllerContext): AsyncDisposable
  /** Called with the identity of each new leader, including this process. */
  readonly onNewLeader?: (identity: string) => void
}

/** Each retry period is extended by a random part of up to this factor, so that processes do not retry in step. */
const jitter = 1.2
/** Interval at which a candidate renews without a ping. */
const candidateRenewalMs = 5 * 60_000

/**
 * Returns a controller that runs its work only in the process that holds a Lease, one of several. A leader that cannot renew
 * the Lease stops before others can take it, releases it, and competes again.
 *
 *     waiting --Lease taken--> leading --no renewal for the deadline--> stopping --> waiting
 *
 * @example
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * import { leaderElection, runControllers } from '@krmkit/controllers'
 * const client = createRemoteClient(await loadKubeconfig())
 * const election = leaderElection({ leaseName: 'my-controllers', identity: 'host-1_4f2a', lead: () => runControllers({ client }) })
 * await using running = runControllers({ client, available: [election] })
 */
export function leaderElection(options: LeaderElectionOptions): Controller {
  return {
    name: options.leaseName,
    start(context) {
      const elector = new Elector(context, options)
      const unsubscribe = options.coordinated === undefined ? undefined : announceCandidate(context, options, options.coordinated)
      return {
        async [Symbol.asyncDispose]() {
          unsubscribe?.()
          await elector.stop()
        },
      }
    },
  }
}

class Elector {
  readonly #context: ControllerContext
  readonly #options: LeaderElectionOptions
  readonly #lease: HeldLease
  readonly #renewDeadlineMs: number
  readonly #recorder: EventRecorder
  /** The running work while this process is the leader. */
  #leading: AsyncDisposable | undefined
  #stopping: Promise<void> | undefined
  #cancelDeadline: () => void = () => undefined
  #reported = ''
  #isClosed = false

  constructor(context: ControllerContext, options: LeaderElectionOptions) {
    const { client, clock, fieldManager, profile, random } = context
    const { coordinated, identity, leaseName: name, leaseNamespace: namespace = profile.systemNamespace } = options
    const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2000 } = options
    this.#context = context
    this.#options = options
    this.#renewDeadlineMs = renewDeadlineMs
    this.#recorder = new EventRecorder(context, { component: fieldManager, api: 'core' })
    const isCoordinated = coordinated !== undefined
    this.#lease = new HeldLease({ client, clock, fieldManager, namespace, name, identity, leaseDurationMs, isCoordinated })
    const work = context.queue<'lease'>({
      sync: async () => {
        await this.#attempt()
        const [byte = 0] = random.bytes(1)
        const waitMs = this.#leading === undefined ? retryPeriodMs * (1 + (byte / 256) * jitter) : retryPeriodMs
        return { requeueAfterMs: Math.round(waitMs) }
      },
    })
    work.add('lease')
  }

  /** Stops the work, then releases the Lease. */
  async stop(): Promise<void> {
    this.#isClosed = true
    await this.#stopLeading()
  }

  async #attempt(): Promise<void> {
    if (this.#isClosed) return
    const { clock, onError, signal } = this.#context
    const startedMs = clock.now()
    let isHeld = false
    try {
      isHeld = await this.#withinDeadline((deadline) => this.#lease.tryHold(AbortSignal.any([signal, deadline])))
    } catch (error) {
      onError(error)
    }
    if (this.#lease.holder !== this.#reported) {
      this.#reported = this.#lease.holder
      this.#options.onNewLeader?.(this.#reported)
    }
    if (!isHeld || this.#isClosed) return
    if (this.#stopping !== undefined) await this.#stopping
    if (!this.#lease.isHeld) return
    this.#cancelDeadline()
    // The deadline counts from the start of the renewal, because the request may have taken long.
    const leftMs = Math.max(0, startedMs + this.#renewDeadlineMs - clock.now())
    this.#cancelDeadline = clock.setTimeout(() => void this.#stopLeading(), leftMs)
    if (this.#leading !== undefined || this.#isClosed) return
    this.#leading = this.#start()
    await this.#record('became leader')
  }

  /** Aborts a request for the Lease at the deadline, because the Lease has expired by then. */
  async #withinDeadline<T>(run: (deadline: AbortSignal) => Promise<T>): Promise<T> {
    const deadline = new AbortController()
    const cancel = this.#context.clock.setTimeout(() => deadline.abort(), this.#renewDeadlineMs)
    try {
      return await run(deadline.signal)
    } finally {
      cancel()
    }
  }

  #start(): AsyncDisposable {
    const queues: AsyncDisposable[] = []
    const queue: ControllerContext['queue'] = (options) => {
      const created = this.#context.queue(options)
      queues.push(created)
      return created
    }
    const leading = this.#options.lead({ ...this.#context, queue })
    return {
      async [Symbol.asyncDispose]() {
        await leading[Symbol.asyncDispose]()
        await Promise.all(queues.map((each) => each[Symbol.asyncDispose]()))
      },
    }
  }

  #stopLeading(): Promise<void> {
    this.#cancelDeadline()
    const leading = this.#leading
    if (leading === undefined) return this.#stopping ?? Promise.resolve()
    this.#leading = undefined
    this.#stopping = this.#end(leading).finally(() => {
      this.#stopping = undefined
    })
    return this.#stopping
  }

  /** The work of the leader must have ended before another process may lead. */
  async #end(leading: AsyncDisposable): Promise<void> {
    const { onError } = this.#context
    try {
      await leading[Symbol.asyncDispose]()
      await this.#withinDeadline((deadline) => this.#lease.release(deadline))
    } catch (error) {
      // Not an error: the Lease then expires.
      onError(error)
    }
    await this.#record('stopped leading')
  }

  async #record(what: string): Promise<void> {
    const { lease } = this.#lease
    if (lease === undefined || this.#context.signal.aborted) return
    const message = `${this.#options.identity} ${what}`
    await this.#recorder.record(lease, { type: 'Normal', reason: 'LeaderElection', message })
  }
}

/** Announces this server as a candidate, and renews the candidate when it is pinged. */
function announceCandidate(
  { client, clock, fieldManager, informers, profile, queue, signal }: ControllerContext,
  { identity: name, leaseName, leaseNamespace: namespace = profile.systemNamespace }: LeaderElectionOptions,
  versions: NonNullable<LeaderElectionOptions['coordinated']>,
): () => void {
  const work = queue<'renew'>({
    async sync() {
      const renewTime = formatMicroTime(clock.now())
      const current = await ignoreNotFound(client.get(candidates, name, { namespace, signal }))
      const spec = { leaseName, ...versions, strategy: oldestEmulationVersion }
      if (current === undefined) {
        await client.create(candidates, { metadata: { name, namespace }, spec: { ...spec, renewTime } }, { fieldManager, signal })
      } else {
        const next = { ...current, spec: { ...spec, ...current.spec, renewTime } }
        await client.update(candidates, next, { fieldManager, signal })
      }
      return { requeueAfterMs: candidateRenewalMs }
    },
  })
  work.add('renew')
  return informers.of(candidates).on({
    updated({ metadata, spec }: DeepReadonly<LeaseCandidate>) {
      if (metadata.name !== name || metadata.namespace !== namespace) return
      if (Date.parse(spec?.pingTime ?? '') > Date.parse(spec?.renewTime ?? '')) work.add('renew')
    },
  })
}
