import { hexText } from '@krmkit/base/bytes'
import { type DeepReadonly, formatTime, parseTime, type Random } from '@krmkit/meta'
import type { RecordedEvent } from '../events/event-recorder.ts'
import type { Container } from '../workloads/objects.ts'
import type { ContainerDefinition, ResolvedBehavior } from './behavior.ts'
import { ContainerProbes, type ProbedContainer } from './container-probes.ts'
import { backoffText, imageID } from './container-texts.ts'
import type { ContainerResources, ContainerStatus, Terminated } from './objects.ts'

export interface ContainerEnvironment {
  readonly random: Random
  /** `name_namespace(uid)`, the pod in messages. */
  readonly podText: string
  readonly fieldPath: string
  note(event: RecordedEvent): void
}

const baseBackoffMs = 10_000
const maxBackoffMs = 300_000
/** A run of at least this length resets the backoff. */
const resetBackoffMs = 600_000
/** Sync interval of the kubelet. */
const syncMs = 1000
const killed = 137

/**
 * One container and its runs.
 *
 *     Waiting --start--> Running --exit--> Terminated --restart--> Waiting (CrashLoopBackOff) --> Running
 *        \--pull fails--> ErrImagePull --> ImagePullBackOff --> ErrImagePull ...
 */
export class ContainerRun {
  readonly name: string
  image: string
  behavior: ResolvedBehavior
  #container: DeepReadonly<Container>
  readonly #environment: ContainerEnvironment
  #state: 'waiting' | 'running' | 'terminated' = 'waiting'
  #reason = 'ContainerCreating'
  #message: string | undefined
  #containerID = ''
  #startedAtMs = 0
  #terminated: Terminated | undefined
  #last: Terminated | undefined
  #backoffMs = 0
  #pullBackoffMs = 0
  #nextAtMs: number | undefined
  /** Whether the container has run before, so that the next start is a restart. */
  #hasRun = false
  #probes: ContainerProbes | undefined
  /** The exit code of a container that ends because of a failed probe or a changed image. */
  #forcedExitCode: number | undefined
  /** The definition that takes effect at the next start. */
  #replacement: ContainerDefinition | undefined
  restarts = 0
  ready = false
  /** The resources that the node has allocated to the container, and those that are in effect. */
  allocated: DeepReadonly<ContainerResources>
  actual: DeepReadonly<ContainerResources>

  constructor(container: DeepReadonly<Container>, behavior: ResolvedBehavior, environment: ContainerEnvironment) {
    this.name = container.name
    this.image = container.image ?? ''
    this.behavior = behavior
    this.#container = container
    this.#environment = environment
    this.#probes = ContainerProbes.of(container, behavior.probe)
    this.allocated = container.resources ?? {}
    this.actual = this.allocated
  }

  /**
   * Replaces the definition of the container. A running container is stopped within the grace period and restarted,
   * regardless of the restart policy; a container in backoff starts without further delay.
   */
  replace(definition: ContainerDefinition, nowMs: number, graceMs: number): void {
    if (this.#state === 'running') {
      this.#replacement = definition
      this.#note('Normal', 'Killing', `Container ${this.name} definition changed, will be restarted`)
      this.#endWithin(graceMs, nowMs)
      return
    }
    this.#define(definition)
    if (this.#state !== 'waiting') return
    if (this.#reason !== 'PodInitializing') this.#reason = 'ContainerCreating'
    this.#message = undefined
    this.#nextAtMs = undefined
  }

  #define({ container, behavior }: ContainerDefinition): void {
    this.image = container.image ?? ''
    this.behavior = behavior
    this.#container = container
    this.#probes = ContainerProbes.of(container, behavior.probe)
    this.#backoffMs = 0
    this.#pullBackoffMs = 0
  }

  #endWithin(graceMs: number, nowMs: number): void {
    const { stopAfterMs = 0, exitCode = killed } = this.behavior
    this.#forcedExitCode = stopAfterMs > graceMs ? killed : exitCode
    this.#nextAtMs = nowMs + Math.min(stopAfterMs, graceMs)
  }

  get isRunning(): boolean {
    return this.#state === 'running'
  }

  get nextImage(): string {
    return this.#replacement?.container.image ?? this.image
  }

  get exitCode(): number | undefined {
    return this.#state === 'terminated' ? this.#terminated?.exitCode : undefined
  }

  get lastExitCode(): number | undefined {
    return this.exitCode ?? this.#last?.exitCode
  }

  get isWaiting(): boolean {
    return this.#state === 'waiting'
  }

  /** The last run that ended, while the container runs or waits for its next run. */
  get previous(): Terminated | undefined {
    return this.#last
  }

  get startedAtMs(): number {
    return this.#startedAtMs
  }

  /** Time of the next probe or state change without external input. */
  get nextAtMs(): number | undefined {
    if (this.#state !== 'running') return this.#nextAtMs
    const times = [this.#nextAtMs, this.#nextProbeAtMs, this.ready || this.#hasReadiness ? undefined : this.#readyAtMs]
    const known = times.filter((atMs) => atMs !== undefined)
    return known.length === 0 ? undefined : Math.min(...known)
  }

  /** Time of the next probe; undefined for a container without probes, or that is about to exit. */
  get #nextProbeAtMs(): number | undefined {
    return this.#state === 'running' && this.#forcedExitCode === undefined ? this.#probes?.nextAtMs : undefined
  }

  /** Whether a readiness probe determines the readiness of the container. */
  get #hasReadiness(): boolean {
    return this.#probes?.isReady !== undefined
  }

  get #readyAtMs(): number {
    return this.#startedAtMs + this.#readyAfterMs
  }

  get #readyAfterMs(): number {
    const probe = this.#container['readinessProbe'] as { readonly initialDelaySeconds?: number } | undefined
    return this.behavior.readyAfterMs ?? (probe?.initialDelaySeconds ?? 0) * 1000
  }

  /** Sets the waiting reason of a container that may not start yet. */
  hold(reason: string): void {
    if (this.#state === 'waiting' && this.restarts === 0) this.#reason = reason
  }

  /**
   * Advances the container to its state at `nowMs`. @param mayRestart whether an exit with this code is followed by a new
   * run
   */
  advance(nowMs: number, mayRestart: (exitCode: number) => boolean): void {
    switch (this.#state) {
      case 'waiting':
        this.#advanceWaiting(nowMs)
        break
      case 'running':
        if (this.#nextAtMs === undefined || nowMs < this.#nextAtMs) {
          this.ready = this.#isReadyAt(nowMs)
          break
        }
        this.#exit(nowMs, this.#forcedExitCode ?? this.#ownExitCode())
        if (this.#replacement !== undefined) this.#startAgain(nowMs, this.#replacement)
        break
      case 'terminated':
        this.#advanceTerminated(nowMs, mayRestart)
    }
  }

  #isReadyAt(nowMs: number): boolean {
    const { hasStarted = true, isReady = nowMs >= this.#readyAtMs } = this.#probes ?? {}
    return hasStarted && isReady
  }

  /**
   * Sends the probes that are due. A container whose liveness or startup probe has failed is stopped within the grace
   * period.
   *
   * @returns whether a probe was sent
   */
  async probe(container: ProbedContainer, graceMs: number): Promise<boolean> {
    const { nowMs } = container
    let wasSent = false
    while ((this.#nextProbeAtMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
      wasSent = true
      for (const { type, message, isFatal } of (await this.#probes?.send(container)) ?? []) {
        this.#note('Warning', 'Unhealthy', `${type[0]?.toUpperCase()}${type.slice(1)} probe failed: ${message}`)
        if (!isFatal) continue
        this.#note('Normal', 'Killing', `Container ${this.name} failed ${type} probe, will be restarted`)
        this.#endWithin(graceMs, nowMs)
      }
    }
    return wasSent
  }

  /** Restores the state of a container from a status that an earlier simulation wrote. */
  restore(status: DeepReadonly<ContainerStatus>): void {
    const { state, lastState, restartCount, containerID = '', resources, allocatedResources } = status
    if (resources !== undefined) {
      this.actual = resources
      this.allocated = allocatedResources === undefined ? resources : { ...resources, requests: allocatedResources }
    }
    this.#last = lastState.terminated
    this.#hasRun = containerID !== ''
    this.restarts = restartCount
    this.image = status.image
    this.#containerID = containerID
    if (state.running !== undefined) {
      this.#state = 'running'
      this.#startedAtMs = parseTime(state.running.startedAt)
      const runMs = this.#runMs
      this.#nextAtMs = runMs === undefined ? undefined : this.#startedAtMs + runMs
      this.ready = status.ready
      this.#probes?.begin(this.#startedAtMs, status)
    } else if (state.terminated !== undefined) {
      this.#state = 'terminated'
      this.#terminated = state.terminated
      this.#nextAtMs = parseTime(state.terminated.finishedAt) + syncMs
    }
  }

  allocate(resources: DeepReadonly<ContainerResources>): void {
    this.allocated = resources
    this.#backoffMs = 0
  }

  /** Puts the allocated resources into effect. @param restarts whether the container must be restarted for the change */
  actuate(nowMs: number, restarts: boolean): void {
    if (restarts) {
      this.#note('Normal', 'Killing', `Container ${this.name} resize requires restart`)
      this.#exit(nowMs, this.behavior.exitCode ?? 0)
      this.#startAgain(nowMs)
    }
    this.actual = this.allocated
  }

  /** Duration of a run; undefined when it does not end. */
  get #runMs(): number | undefined {
    const { exitAfterMs, successAfterMs, crashes } = this.behavior
    const endsAfterMs = exitAfterMs === Number.POSITIVE_INFINITY ? undefined : exitAfterMs
    if (crashes === undefined) return endsAfterMs
    return this.restarts < crashes ? (endsAfterMs ?? syncMs) : successAfterMs
  }

  /** Stops a running container, as by a termination signal. */
  stop(nowMs: number, isKilled: boolean): void {
    if (this.#state === 'running') this.#exit(nowMs, isKilled ? killed : (this.behavior.exitCode ?? 0))
    this.#nextAtMs = undefined
    this.ready = false
  }

  status(): ContainerStatus {
    const containerID = this.#containerID
    const terminated = this.#terminated
    const waiting = { reason: this.#reason, ...(this.#message === undefined ? {} : { message: this.#message }) }
    const running = { startedAt: formatTime(this.#startedAtMs) }
    const state =
      this.#state === 'waiting'
        ? { waiting }
        : this.#state === 'running' || terminated === undefined
          ? { running }
          : { terminated }
    return {
      name: this.name,
      image: this.image,
      imageID: containerID === '' ? '' : imageID(this.image),
      ...(containerID === '' ? {} : { containerID }),
      ready: this.ready,
      started: this.#state === 'running' && (this.#probes?.hasStarted ?? true),
      restartCount: this.restarts,
      state,
      lastState: this.#last === undefined ? {} : { terminated: this.#last },
      ...(containerID === '' ? {} : this.#resources()),
    }
  }

  #resources(): Pick<ContainerStatus, 'allocatedResources' | 'resources'> {
    const { requests } = this.allocated
    const resources = structuredClone(this.isRunning ? this.actual : this.allocated) as ContainerResources
    return { resources, ...(requests === undefined ? {} : { allocatedResources: { ...requests } }) }
  }

  #advanceWaiting(nowMs: number): void {
    this.#nextAtMs ??= nowMs + (this.behavior.startAfterMs ?? 0)
    if (nowMs < this.#nextAtMs) return
    if (this.behavior.pullError === undefined) {
      this.#start(nowMs)
      return
    }
    if (this.#reason === 'ErrImagePull') {
      this.#pullBackoffMs = Math.min(maxBackoffMs, this.#pullBackoffMs === 0 ? baseBackoffMs : this.#pullBackoffMs * 2)
      const message = `Back-off pulling image ${JSON.stringify(this.image)}`
      this.#wait('ImagePullBackOff', `${message}: ErrImagePull: ${this.behavior.pullError}`, nowMs + this.#pullBackoffMs)
      this.#note('Normal', 'BackOff', message)
      this.#note('Warning', 'Failed', 'Error: ImagePullBackOff')
      return
    }
    const { pullError } = this.behavior
    this.#note('Normal', 'Pulling', `Pulling image ${JSON.stringify(this.image)}`)
    this.#note('Warning', 'Failed', `Failed to pull image ${JSON.stringify(this.image)}: ${pullError}`)
    this.#note('Warning', 'Failed', 'Error: ErrImagePull')
    this.#wait('ErrImagePull', pullError, nowMs + syncMs)
  }

  #startAgain(nowMs: number, replacement?: ContainerDefinition): void {
    if (replacement !== undefined) this.#define(replacement)
    this.#last = this.#terminated
    this.#terminated = undefined
    this.#hasRun = true
    this.#start(nowMs)
  }

  #start(nowMs: number): void {
    if (this.#hasRun) this.restarts++
    this.#state = 'running'
    this.#replacement = undefined
    this.actual = this.allocated
    this.#message = undefined
    this.#startedAtMs = nowMs
    this.#containerID = `containerd://${hexText(this.#environment.random.bytes(32))}`
    const runMs = this.#runMs
    this.#nextAtMs = runMs === undefined ? undefined : nowMs + runMs
    this.#forcedExitCode = undefined
    this.#probes?.begin(nowMs, undefined)
    this.ready = this.#isReadyAt(nowMs)
    this.#note('Normal', 'Pulled', `Container image ${JSON.stringify(this.image)} already present on machine`)
    this.#note('Normal', 'Created', `Created container: ${this.name}`)
    this.#note('Normal', 'Started', `Started container ${this.name}`)
  }

  #ownExitCode(): number {
    const { crashes, exitCode } = this.behavior
    if (crashes === undefined) return exitCode ?? 0
    return this.restarts < crashes ? exitCode || 1 : 0
  }

  #exit(nowMs: number, exitCode: number): void {
    this.#terminated = {
      exitCode,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      startedAt: formatTime(this.#startedAtMs),
      finishedAt: formatTime(nowMs),
      containerID: this.#containerID,
    }
    this.#state = 'terminated'
    this.ready = false
    if (nowMs - this.#startedAtMs >= resetBackoffMs) this.#backoffMs = 0
    this.#nextAtMs = nowMs + syncMs
  }

  #advanceTerminated(nowMs: number, mayRestart: (exitCode: number) => boolean): void {
    if (!mayRestart(this.#terminated?.exitCode ?? 0)) {
      this.#nextAtMs = undefined
      return
    }
    if (this.#nextAtMs === undefined || nowMs < this.#nextAtMs) return
    const waitMs = this.#backoffMs
    this.#backoffMs = Math.min(maxBackoffMs, waitMs === 0 ? baseBackoffMs : waitMs * 2)
    if (waitMs === 0) {
      this.#startAgain(nowMs)
      return
    }
    this.#last = this.#terminated
    this.#terminated = undefined
    this.#hasRun = true
    const { podText } = this.#environment
    const message = `back-off ${backoffText(waitMs)} restarting failed container=${this.name} pod=${podText}`
    this.#note('Warning', 'BackOff', `Back-off restarting failed container ${this.name} in pod ${podText}`)
    this.#wait('CrashLoopBackOff', message, nowMs - syncMs + waitMs)
  }

  #wait(reason: string, message: string, untilMs: number): void {
    this.#state = 'waiting'
    this.#reason = reason
    this.#message = message
    this.#nextAtMs = untilMs
  }

  #note(type: RecordedEvent['type'], reason: string, message: string): void {
    this.#environment.note({ type, reason, message, fieldPath: `${this.#environment.fieldPath}{${this.name}}` })
  }
}
