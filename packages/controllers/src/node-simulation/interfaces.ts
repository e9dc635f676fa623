import type { LabelSelectorObject } from '@krmkit/meta'
import type { Taint } from '../workloads/objects.ts'
import type { ReadonlyPod } from './objects.ts'

/** A simulated node. */
export interface NodeTemplate {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
  /** Default: 4 CPUs, 8Gi of memory, 100Gi of storage, 110 pods. */
  readonly capacity?: Readonly<Record<string, string>>
}

/** Selects pods and containers. All given members must match. */
export interface BehaviorMatch {
  readonly namespace?: string
  readonly labels?: LabelSelectorObject
  /** Name of the pod, or a pattern for it. */
  readonly name?: string | RegExp
  /** Name of the container. */
  readonly container?: string
  /** Image of the container, or a pattern for it. */
  readonly image?: string | RegExp
}

/** A container of a simulated pod. */
export interface ContainerContext {
  readonly pod: ReadonlyPod
  readonly container: string
  readonly image: string
  /** Milliseconds since the epoch, of the given clock. */
  readonly nowMs: number
  /** Number of earlier runs of the container. */
  readonly restarts: number
}

/** A command in a container: the streams of `exec` and `attach`. */
export interface ExecContext extends ContainerContext {
  /** Empty for `attach`. */
  readonly command: readonly string[]
  readonly tty: boolean
  /** Standard input; ends at once when the client sends none. */
  readonly stdin: AsyncIterable<Uint8Array>
  writeOut(data: string | Uint8Array): void
  writeError(data: string | Uint8Array): void
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
}

/** What a simulated container does. Durations are in milliseconds. */
export interface ContainerBehavior {
  /** Time until the container runs. Default 0. */
  readonly startAfterMs?: number
  /** Time from the start until the container is ready. Default: the initial delay of its readiness probe, or 0. */
  readonly readyAfterMs?: number
  /** Time from the start until the container exits. Default: never; 1 s for pods of jobs, 0 for init containers. */
  readonly exitAfterMs?: number
  /** Default 0. */
  readonly exitCode?: number
  /** The first runs, as many as this, exit with `exitCode` or 1; the next one keeps running. */
  readonly crashes?: number
  /** Error text of the registry: the image cannot be pulled. */
  readonly pullError?: string
  /** Time from the termination signal until the container exits; longer than the grace period: it is killed. Default 0. */
  readonly stopAfterMs?: number
  /** The log of the container, one text with line ends. Default: empty. */
  readonly logs?: string | ((context: ContainerContext) => string)
  /** Runs a command, and returns its exit code. Default: the command is unknown, exit code 127. */
  readonly exec?: (context: ExecContext) => number | Promise<number>
  /** Attaches to the container. Default: writes the log. */
  readonly attach?: (context: ExecContext) => void | Promise<void>
  /** Current usage for `kubectl top`: `{ cpu: '250m', memory: '64Mi' }`. Default: half of the requests. */
  readonly usage?: Readonly<Record<string, string>> | ((context: ContainerContext) => Readonly<Record<string, string>>)
}

export interface MatchedBehavior extends ContainerBehavior {
  /** Absent: all containers. */
  readonly match?: BehaviorMatch
}

export interface NodeSimulationOptions {
  /** A number of equal nodes `node-1`, `node-2`, ...; or one template for each node. */
  readonly nodes: number | readonly NodeTemplate[]
  /** What containers do: members of earlier entries win. Annotations of pods win over all. */
  readonly behaviors?: readonly MatchedBehavior[]
  /** Time between two renewals of node leases, in milliseconds. Default 10 s. */
  readonly heartbeatMs?: number
}
