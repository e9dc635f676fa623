import type { Duplex } from 'node:stream'
import type { DeepReadonly, LabelSelectorObject } from '@krmkit/meta'
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
  /** Command and arguments of the container joined by spaces, or a pattern for them. Empty for containers that run the command of their image. */
  readonly command?: string | RegExp
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

/** A connection of a client to a port of a pod: `port-forward`. */
export interface PortForwardContext extends ContainerContext {
  readonly port: number
  /**
   * What the client sends can be read, what is written reaches the client, until the connection is ended or destroyed. An HTTP server of
   * Node answers it with `server.emit('connection', connection)`.
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
 * What a simulated container does. Durations are in milliseconds. The defaults follow its command when that consists of `sleep`, `echo`,
 * `true`, `false` and `exit`, alone or as a script of a shell.
 */
export interface ContainerBehavior {
  /** Time until the container runs. Default 0. */
  readonly startAfterMs?: number
  /** Time from the start until the container is ready, when no probe is sent. Default: the initial delay of its readiness probe, or 0. */
  readonly readyAfterMs?: number
  /**
   * Time from the start until the container exits; `Infinity`: never. Default: that of its command, at least 1 s; 0 for init containers;
   * 1 s for containers of jobs, and for those without ports and probes of other pods with the restart policy `Never` or `OnFailure`;
   * else never.
   */
  readonly exitAfterMs?: number
  /** Default: that of its command, or 0. */
  readonly exitCode?: number
  /** The first runs, as many as this, exit with `exitCode` or 1; the next one keeps running, or succeeds where a container ends by default. */
  readonly crashes?: number
  /** Error text of the registry: the image cannot be pulled. */
  readonly pullError?: string
  /** Time from the termination signal until the container exits; longer than the grace period: it is killed. Default 0. */
  readonly stopAfterMs?: number
  /** The log of the container, one text with line ends. Default: what its command echoes. */
  readonly logs?: string | ((context: ContainerContext) => string)
  /** Runs a command, and returns its exit code. Default: follows plain commands as containers do; others are unknown, exit code 127. */
  readonly exec?: (context: ExecContext) => number | Promise<number>
  /** Attaches to the container. Default: writes the log. */
  readonly attach?: (context: ExecContext) => void | Promise<void>
  /**
   * Answers the probes of the container: whether they succeed, or a status code of HTTP. An error is a failure with its message. Must not
   * wait for the clock of the test. Default: no probes are sent.
   */
  readonly probe?: (context: ProbeContext) => boolean | number | Promise<boolean | number>
  /**
   * Serves a connection to a port of the pod. An error is reported to the client, and ends the connection. Default: connections are
   * refused. Of several containers that of the port in `ports` serves it, or else the first.
   */
  readonly portForward?: (context: PortForwardContext) => void | Promise<void>
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
