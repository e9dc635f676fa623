import type { Duplex } from 'node:stream'
import type { DeepReadonly } from '@krmkit/meta'
import type { LabelSelectorObject } from '@krmkit/meta/selectors'
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

/** Selects pods and containers. All members that are set must match. */
export interface BehaviorMatch {
  readonly namespace?: string
  readonly labels?: LabelSelectorObject
  /** Name of the pod, or a pattern for it. */
  readonly name?: string | RegExp
  /** Name of the container. */
  readonly container?: string
  /** Image of the container, or a pattern for it. */
  readonly image?: string | RegExp
  /**
   * Command and arguments of the container joined by spaces, or a pattern for them. Empty for containers that run the
   * default command of their image.
   */
  readonly command?: string | RegExp
}

/** A container of a simulated pod. */
export interface ContainerContext {
  readonly pod: ReadonlyPod
  readonly container: string
  readonly image: string
  /** Milliseconds since the epoch on the clock of the simulation. */
  readonly nowMs: number
  /** Number of earlier runs of the container. */
  readonly restarts: number
}

/** A command in a container, with the streams of `exec` or `attach`. */
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

/** A connection of a client to a port of a pod: `port-forward`. */
export interface PortForwardContext extends ContainerContext {
  readonly port: number
  /**
   * The stream of the connection: reads return what the client sends, writes go to the client. An HTTP server of Node serves
   * it with `server.emit('connection', connection)`.
   */
  readonly connection: Duplex
  /** Aborts when the connection has ended. */
  readonly signal: AbortSignal
}

export type ProbeType = 'startup' | 'liveness' | 'readiness'

/** A probe of a container, as its pod declares it. */
export interface ContainerProbe {
  readonly httpGet?: {
    readonly path?: string
    readonly port: number | string
    readonly host?: string
    readonly scheme?: string
    readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[]
  }
  readonly tcpSocket?: { readonly port: number | string; readonly host?: string }
  readonly exec?: { readonly command?: readonly string[] }
  readonly grpc?: { readonly port: number; readonly service?: string }
  readonly initialDelaySeconds?: number
  readonly periodSeconds?: number
  readonly timeoutSeconds?: number
  readonly successThreshold?: number
  readonly failureThreshold?: number
}

/** A probe that a node sends to a container. */
export interface ProbeContext extends ContainerContext {
  readonly type: ProbeType
  readonly probe: DeepReadonly<ContainerProbe>
}

/**
 * What a simulated container does. Durations are in milliseconds. Defaults are derived from its command if that is plain:
 * `sleep`, `echo`, `true`, `false` and `exit`, alone or in a shell script.
 */
export interface ContainerBehavior {
  /** Time until the container starts. Default 0. */
  readonly startAfterMs?: number
  /** Time from the start until the container is ready, when no probe is sent. Default: the initial delay of its readiness probe, or 0. */
  readonly readyAfterMs?: number
  /**
   * Time from the start until the container exits; `Infinity` for never. Default: the duration of a plain command, at least
   * 1 s; 0 for init containers; 1 s for containers of jobs, and for containers without ports and probes in other pods with
   * the restart policy `Never` or `OnFailure`; otherwise never.
   */
  readonly exitAfterMs?: number
  /** Default: the exit code of a plain command, or 0. */
  readonly exitCode?: number
  /**
   * Number of first runs that exit with `exitCode`, or 1. The next run keeps running, or succeeds if the container ends by
   * default.
   */
  readonly crashes?: number
  /** Makes image pulls fail with this error text of the registry. */
  readonly pullError?: string
  /**
   * Time from the termination signal until the container exits; after the grace period the container is killed. Default 0.
   */
  readonly stopAfterMs?: number
  /** The log of the container, with line ends. Default: the output of a plain command. */
  readonly logs?: string | ((context: ContainerContext) => string)
  /**
   * Runs a command, and returns its exit code. Default: runs plain commands; other commands exit with 127, command not
   * found.
   */
  readonly exec?: (context: ExecContext) => number | Promise<number>
  /** Attaches to the container. Default: writes the log. */
  readonly attach?: (context: ExecContext) => void | Promise<void>
  /**
   * Handles the probes of the container: returns whether a probe succeeds, or an HTTP status code. A thrown error is a
   * failed probe with its message. Must not wait for the clock of the test. Default: no probes are sent.
   */
  readonly probe?: (context: ProbeContext) => boolean | number | Promise<boolean | number>
  /**
   * Serves a connection to a port of the pod. A thrown error is reported to the client and ends the connection. Default:
   * connections are refused. Among several containers with a handler, the one that declares the port serves it, or else the
   * first.
   */
  readonly portForward?: (context: PortForwardContext) => void | Promise<void>
  /** Current usage for `kubectl top`: `{ cpu: '250m', memory: '64Mi' }`. Default: half of the requests. */
  readonly usage?: Readonly<Record<string, string>> | ((context: ContainerContext) => Readonly<Record<string, string>>)
}

export interface MatchedBehavior extends ContainerBehavior {
  /** Containers with this behaviour. Absent: all containers. */
  readonly match?: BehaviorMatch
}

export interface NodeSimulationOptions {
  /** A number of equal nodes, named `node-1`, `node-2` and so on, or one template for each node. */
  readonly nodes: number | readonly NodeTemplate[]
  /**
   * Behaviours of containers. When several match, each member comes from the first entry that sets it. Annotations of pods
   * take precedence over all entries.
   */
  readonly behaviors?: readonly MatchedBehavior[]
  /** Time between two renewals of node leases, in milliseconds. Default 10 s. */
  readonly heartbeatMs?: number
}
