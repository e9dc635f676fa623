import type { DeepReadonly } from '@krmkit/meta'
import type { Container } from '../workloads/objects.ts'
import type { ContainerProbe, ProbeContext, ProbeType } from './interfaces.ts'

/** The context of a probe handler without the probe. */
export type ProbedContainer = Omit<ProbeContext, 'type' | 'probe'>

/** A failed probe. */
export interface ProbeFailure {
  readonly type: ProbeType
  readonly message: string
  /** Whether the container must be restarted. */
  readonly isFatal: boolean
}

type ProbeHandler = (context: ProbeContext) => ProbeAnswer | Promise<ProbeAnswer>
type ProbeAnswer = boolean | number

interface ProbeState {
  readonly probe: DeepReadonly<ContainerProbe>
  nextAtMs: number
  lastSucceeded: boolean | undefined
  /** Number of consecutive occurrences of the last result. */
  count: number
  /** The result after thresholds; undefined until a threshold is reached first. */
  succeeded: boolean | undefined
}

const defaults = { periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }
const members = { startup: 'startupProbe', liveness: 'livenessProbe', readiness: 'readinessProbe' } as const
const order: readonly ProbeType[] = ['startup', 'liveness', 'readiness']
const okStatus = 200
const errorStatus = 400

/**
 * The probes of a running container, on the schedule of a kubelet: the first probe after the initial delay, then one in each
 * period. Liveness and readiness probes start once the startup probe has succeeded.
 */
export class ContainerProbes {
  readonly #handler: ProbeHandler
  readonly #states = new Map<ProbeType, ProbeState>()

  /** @returns undefined for a container without probes */
  static of(container: DeepReadonly<Container>, handler: ProbeHandler | undefined): ContainerProbes | undefined {
    if (handler === undefined || order.every((type) => container[members[type]] === undefined)) return undefined
    return new ContainerProbes(container, handler)
  }

  private constructor(container: DeepReadonly<Container>, handler: ProbeHandler) {
    this.#handler = handler
    for (const type of order) {
      const probe = container[members[type]] as DeepReadonly<ContainerProbe> | undefined
      if (probe === undefined) continue
      this.#states.set(type, { probe, nextAtMs: 0, lastSucceeded: undefined, count: 0, succeeded: undefined })
    }
  }

  /** Whether the startup probe has succeeded; true without one. */
  get hasStarted(): boolean {
    return this.#states.get('startup')?.succeeded ?? !this.#states.has('startup')
  }

  /** Whether the readiness probe succeeds; undefined without one. */
  get isReady(): boolean | undefined {
    const state = this.#states.get('readiness')
    return state === undefined ? undefined : this.hasStarted && state.succeeded === true
  }

  /** Time of the next probe. */
  get nextAtMs(): number {
    return Math.min(...this.#active().map(([, { nextAtMs }]) => nextAtMs))
  }

  /** Resets the probes for a new run of the container, or for a run whose status is `known`. */
  begin(startedAtMs: number, known: { readonly ready: boolean; readonly started: boolean } | undefined): void {
    for (const [type, state] of this.#states) {
      state.nextAtMs = startedAtMs + (state.probe.initialDelaySeconds ?? 0) * 1000
      state.lastSucceeded = undefined
      state.count = 0
      state.succeeded = undefined
      if (type === 'readiness' && known?.ready === true) state.succeeded = true
      if (type === 'startup' && known?.started === true) state.succeeded = true
    }
  }

  /** Sends the probes that are due. @returns the failed probes */
  async send(container: ProbedContainer): Promise<readonly ProbeFailure[]> {
    const { nowMs } = container
    const failures: ProbeFailure[] = []
    for (const type of order) {
      const state = this.#active().find(([active]) => active === type)?.[1]
      if (state === undefined || state.nextAtMs > nowMs) continue
      const message = await this.#failureOf({ ...container, type, probe: state.probe })
      state.nextAtMs = nowMs + (state.probe.periodSeconds ?? defaults.periodSeconds) * 1000
      count(state, message === undefined)
      const isFatal = type !== 'readiness' && state.succeeded === false
      if (message !== undefined) failures.push({ type, message, isFatal })
      if (isFatal) break
    }
    return failures
  }

  /** Until the startup probe succeeds only that probe is active; afterwards all others are. */
  #active(): [ProbeType, ProbeState][] {
    return [...this.#states].filter(([type]) => (type === 'startup') !== this.hasStarted)
  }

  /** @returns undefined when the probe succeeds */
  async #failureOf(context: ProbeContext): Promise<string | undefined> {
    try {
      const answer = await this.#handler(context)
      if (typeof answer === 'boolean') return answer ? undefined : ''
      return answer >= okStatus && answer < errorStatus ? undefined : `HTTP probe failed with statuscode: ${answer}`
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
}

function count(state: ProbeState, succeeded: boolean): void {
  state.count = state.lastSucceeded === succeeded ? state.count + 1 : 1
  state.lastSucceeded = succeeded
  const threshold = succeeded ? state.probe.successThreshold : state.probe.failureThreshold
  if (state.count >= (threshold ?? defaults[succeeded ? 'successThreshold' : 'failureThreshold'])) state.succeeded = succeeded
}
