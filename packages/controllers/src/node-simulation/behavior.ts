import { type DeepReadonly, labelSelectorFromObject } from '@krmkit/meta'
import { parseDurationMs } from '@krmkit/meta/time'
import { controllerOf } from '@krmkit/meta/validation'
import type { Container } from '../workloads/objects.ts'
import type { BehaviorMatch, ContainerBehavior, MatchedBehavior } from './interfaces.ts'
import type { ReadonlyPod } from './objects.ts'

/** Prefix of the annotations that declare the behaviour of a pod. */
export const behaviorDomain = 'simulation.krmkit.dev'

const jobExitAfterMs = 1000

/**
 * Returns what a container does: its annotations win over the behaviours that match it, and those over defaults.
 *
 * @throws MetaError for an annotation with an invalid duration
 */
export function behaviorOf(
  pod: ReadonlyPod,
  container: DeepReadonly<Container>,
  behaviors: readonly MatchedBehavior[],
): ContainerBehavior {
  const isInit = pod.spec?.initContainers?.some(({ name }) => name === container.name) === true
  const isSidecar = isInit && container.restartPolicy === 'Always'
  const found: ContainerBehavior = defaultsOf(pod, isInit && !isSidecar)
  const matched = behaviors.filter(({ match }) => match === undefined || matches(match, pod, container))
  const merged: ContainerBehavior = Object.assign({}, found, ...matched.toReversed())
  // Annotations of a pod concern its application, not the containers that prepare it.
  return isInit ? merged : { ...merged, ...annotated(pod) }
}

function defaultsOf(pod: ReadonlyPod, isInit: boolean): ContainerBehavior {
  if (isInit) return { exitAfterMs: 0 }
  return controllerOf(pod.metadata.ownerReferences)?.kind === 'Job' ? { exitAfterMs: jobExitAfterMs } : {}
}

function matches(match: BehaviorMatch, { metadata }: ReadonlyPod, container: DeepReadonly<Container>): boolean {
  const { namespace, labels, name, image } = match
  return (
    (namespace === undefined || namespace === metadata.namespace) &&
    (labels === undefined || labelSelectorFromObject(labels).matches(metadata.labels ?? {})) &&
    (match.container === undefined || match.container === container.name) &&
    matchesText(name, metadata.name ?? '') &&
    matchesText(image, container.image ?? '')
  )
}

function matchesText(pattern: string | RegExp | undefined, text: string): boolean {
  if (pattern === undefined) return true
  return typeof pattern === 'string' ? pattern === text : pattern.test(text)
}

const readers: Readonly<Record<string, (text: string) => ContainerBehavior>> = {
  'start-after': (text) => ({ startAfterMs: parseDurationMs(text) }),
  'ready-after': (text) => ({ readyAfterMs: parseDurationMs(text) }),
  'exit-after': (text) => ({ exitAfterMs: parseDurationMs(text) }),
  'stop-after': (text) => ({ stopAfterMs: parseDurationMs(text) }),
  'exit-code': (text) => ({ exitCode: Number.parseInt(text, 10) || 0 }),
  crashes: (text) => ({ crashes: Number.parseInt(text, 10) || 0 }),
  'pull-error': (text) => ({ pullError: text }),
  logs: (text) => ({ logs: text }),
}

function annotated({ metadata }: ReadonlyPod): ContainerBehavior {
  const found: ContainerBehavior = {}
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    if (!key.startsWith(`${behaviorDomain}/`)) continue
    const name = key.slice(behaviorDomain.length + 1)
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined
    if (read !== undefined) Object.assign(found, read(value))
  }
  return found
}
