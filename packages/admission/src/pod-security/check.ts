import type { DeepReadonly } from '@krmkit/meta'
import type { Container, PodSpec } from '../pod.ts'

/** The input of a check: a pod or a pod template. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: DeepReadonly<PodSpec>
  /** The pod runs in a user namespace, and checks are relaxed for such pods. */
  readonly usesUserNamespace: boolean
  /** `kubernetes.io` of the profile. */
  readonly domain: string
}

/** A violated check: a short reason and the details. */
export interface Violation {
  readonly reason: string
  readonly detail: string
}

/** A check as of one release. */
export interface CheckVersion {
  /** Minor version of the first release with this check. */
  readonly since: number
  /** Ids of baseline checks that this check overrides. */
  readonly replaces?: readonly string[]
  run(pod: CheckedPod): Violation | undefined
}

/** A check of a standard with its versions, oldest first. */
export interface Check {
  readonly id: string
  readonly level: 'baseline' | 'restricted'
  readonly versions: readonly CheckVersion[]
}

/** All containers in kube-apiserver's visiting order. */
export function containersOf({ spec }: CheckedPod): readonly DeepReadonly<Container>[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]
}

/** Formats `container "a"` or `containers "a", "b"`. */
export function named(title: string, names: readonly string[]): string {
  return `${plural(title, names.length)} ${quoted(names)}`
}

export function plural(word: string, count: number, many = `${word}s`): string {
  return count === 1 ? word : many
}

export function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(', ')
}

export function sorted(names: Iterable<string>): string[] {
  return [...new Set(names)].sort()
}
