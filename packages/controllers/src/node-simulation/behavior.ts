import type { DeepReadonly } from '@krmkit/meta'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import { parseDurationMs } from '@krmkit/meta/time'
import { controllerOf } from '@krmkit/meta/validation'
import type { Container } from '../workloads/objects.ts'
import type { BehaviorMatch, ContainerBehavior, MatchedBehavior } from './interfaces.ts'
import type { ReadonlyPod } from './objects.ts'
import { plainCommand } from './plain-command.ts'

/** Prefix of the annotations that declare the behaviour of a pod. */
export const behaviorDomain = 'simulation.krmkit.dev'

/** The behaviour of a container with all defaults applied. */
export interface ResolvedBehavior extends ContainerBehavior {
  /** Duration of the run that follows the crashes and succeeds. Absent: this run does not end. */
  readonly successAfterMs?: number
}

/** The spec of a container and its simulated behaviour. */
export interface ContainerDefinition {
  readonly container: DeepReadonly<Container>
  readonly behavior: ResolvedBehavior
}

/** Minimum duration of a container that ends by itself. Init containers end at once. */
const minRunMs = 1000

/**
 * Returns the behaviour of a container. In order of precedence: annotations of the pod, matching behaviours, the command,
 * defaults. Invalid annotations are ignored.
 *
 * @see {@link annotationProblems}
 */
export function behaviorOf(
  pod: ReadonlyPod,
  container: DeepReadonly<Container>,
  behaviors: readonly MatchedBehavior[],
): ResolvedBehavior {
  const isInit = pod.spec?.initContainers?.some(({ name }) => name === container.name) === true
  const isSidecar = isInit && container.restartPolicy === 'Always'
  const found = defaultsOf(pod, container, isSidecar ? 'sidecar' : isInit ? 'init' : 'main')
  const matched = behaviors.filter(({ match }) => match === undefined || matches(match, pod, container))
  const merged: ResolvedBehavior = Object.assign({}, found, ...matched.toReversed())
  // Annotations of a pod apply to its containers, not to its init containers.
  return isInit ? merged : { ...merged, ...annotated(pod) }
}

function defaultsOf(pod: ReadonlyPod, container: DeepReadonly<Container>, role: 'init' | 'sidecar' | 'main'): ResolvedBehavior {
  const minMs = role === 'init' ? 0 : minRunMs
  const course = plainCommand(commandOf(container))
  if (course !== undefined) {
    const { durationMs, exitCode, output } = course
    const logs = output === '' ? {} : { logs: output }
    return Number.isFinite(durationMs) ? { ...endsAfter(Math.max(durationMs, minMs)), exitCode, ...logs } : logs
  }
  if (role === 'init') return endsAfter(0)
  return role === 'main' && isTask(pod, container) ? endsAfter(minRunMs) : {}
}

/**
 * Whether a container runs to completion: a container of a job, or of another pod that does not restart it after success,
 * unless it has ports or probes.
 */
function isTask({ metadata, spec }: ReadonlyPod, container: DeepReadonly<Container>): boolean {
  if (pauses(container)) return false
  if (controllerOf(metadata.ownerReferences)?.kind === 'Job') return true
  const { restartPolicy = 'Always' } = spec ?? {}
  const serves = servingMembers.some((name) => container[name] !== undefined)
  return restartPolicy !== 'Always' && !serves
}

const servingMembers = ['ports', 'readinessProbe', 'livenessProbe', 'startupProbe']

function endsAfter(ms: number): ResolvedBehavior {
  return { exitAfterMs: ms, successAfterMs: ms }
}

function commandOf({ command, args }: DeepReadonly<Container>): readonly string[] {
  return command === undefined || command.length === 0 ? [] : [...command, ...(args ?? [])]
}

/** Whether a container idles until it is stopped: the image `pause`, or `agnhost`, whose default command is `pause`. */
function pauses({ image = '', command = [], args = [] }: DeepReadonly<Container>): boolean {
  if (/(?:^|\/)pause(?:[:@]|$)/.test(image)) return true
  const words = [...command, ...args]
  return /(?:^|\/)agnhost(?:[:@]|$)/.test(image) && (words.length === 0 || words.at(-1) === 'pause')
}

function matches(match: BehaviorMatch, { metadata }: ReadonlyPod, container: DeepReadonly<Container>): boolean {
  const { namespace, labels, name, image } = match
  return (
    (namespace === undefined || namespace === metadata.namespace) &&
    (labels === undefined || labelSelectorFromObject(labels).matches(metadata.labels ?? {})) &&
    (match.container === undefined || match.container === container.name) &&
    matchesText(match.command, commandOf(container).join(' ')) &&
    matchesText(name, metadata.name ?? '') &&
    matchesText(image, container.image ?? '')
  )
}

function matchesText(pattern: string | RegExp | undefined, text: string): boolean {
  if (pattern === undefined) return true
  return typeof pattern === 'string' ? pattern === text : pattern.test(text)
}

/** Parsers of the annotations. They throw RangeError or MetaError for an invalid value. */
const readers: Readonly<Record<string, (text: string) => ContainerBehavior>> = {
  'start-after': (text) => ({ startAfterMs: timeMs(text) }),
  'ready-after': (text) => ({ readyAfterMs: timeMs(text) }),
  'exit-after': (text) => ({ exitAfterMs: text === 'never' ? Number.POSITIVE_INFINITY : timeMs(text) }),
  'stop-after': (text) => ({ stopAfterMs: timeMs(text) }),
  'exit-code': (text) => ({ exitCode: integer(text, { min: -maxInt32 }) }),
  crashes: (text) => ({ crashes: integer(text, { min: 0 }) }),
  'pull-error': (text) => ({ pullError: text }),
  logs: (text) => ({ logs: text }),
}
const maxInt32 = 2 ** 31 - 1
const maxPrintedValue = 100

/**
 * Parses the run time of a container: a duration, or `never`, which is infinity. @throws MetaError for an invalid duration
 */
export function runDurationMs(text: string): number {
  return text === 'never' ? Number.POSITIVE_INFINITY : parseDurationMs(text)
}

function timeMs(text: string): number {
  const ms = parseDurationMs(text)
  if (ms < 0) throw new RangeError('a duration cannot be negative')
  return ms
}

function integer(text: string, { min }: { readonly min: number }): number {
  const value = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= maxInt32) return value
  throw new RangeError(`it must be an integer from ${min} to ${maxInt32}`)
}

/** Returns which annotations of a pod are ignored, and why. */
export function annotationProblems({ metadata }: ReadonlyPod): string[] {
  return readAnnotations(metadata.annotations).problems
}

function annotated({ metadata }: ReadonlyPod): ContainerBehavior {
  return readAnnotations(metadata.annotations).behavior
}

function readAnnotations(annotations: Readonly<Record<string, string>> = {}): {
  readonly behavior: ContainerBehavior
  readonly problems: string[]
} {
  const behavior: ContainerBehavior = {}
  const problems: string[] = []
  for (const [name, read] of Object.entries(readers)) {
    const key = `${behaviorDomain}/${name}`
    const value = Object.hasOwn(annotations, key) ? annotations[key] : undefined
    if (value === undefined) continue
    try {
      Object.assign(behavior, read(value))
    } catch (error) {
      const printed = JSON.stringify(value.length > maxPrintedValue ? `${value.slice(0, maxPrintedValue)}...` : value)
      problems.push(`annotation ${key} is ignored: invalid value ${printed}: ${String((error as Error).message).slice(0, 500)}`)
    }
  }
  return { behavior, problems }
}
