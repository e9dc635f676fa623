import type { DeepReadonly } from '@krmkit/meta'
import type { Container, PodSpec } from '../pod.ts'

/** What a check is asked about. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: DeepReadonly<PodSpec>
  /** The pod's users are not those of its node, and the server takes that into account. */
  readonly ownUsers: boolean
  /** `kubernetes.io` of the profile. */
  readonly domain: string
}

/** What is wrong: in a few words, and in full. */
export interface Violation {
  readonly reason: string
  readonly detail: string
}

/** One rule of a standard, as it was from a release on. */
export interface CheckVersion {
  /** Minor number of the first release that judges so. */
  readonly since: number
  /** Rules of the weaker standard that this one takes the place of. */
  readonly replaces?: readonly string[]
  run(pod: CheckedPod): Violation | undefined
}

/** A rule of a standard through the releases, oldest first. */
export interface Check {
  readonly id: string
  readonly level: 'baseline' | 'restricted'
  readonly versions: readonly CheckVersion[]
}

/** Every container in the order in which the stock server looks at them. */
export function containersOf({ spec }: CheckedPod): readonly DeepReadonly<Container>[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]
}

/** `container "a"`, `containers "a", "b"`. */
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
