import type { DeepReadonly } from '@krmkit/meta'
import type { ObjectIndex } from '../framework/object-index.ts'
import type { ControllerContext } from '../interfaces.ts'
import { type Pod, pods, type ReadonlyPod } from './objects.ts'

/** Finds pods by label, with an index of all labels. */
export class PodsByLabel {
  readonly #index: ObjectIndex<Pod>

  constructor({ informers }: ControllerContext) {
    this.#index = informers.index(pods, 'labels', ({ metadata }) => labelValues(metadata.namespace, metadata.labels))
  }

  /** Returns the pods of a namespace that have all of these labels; none without labels. */
  select(namespace: string, labels: DeepReadonly<Record<string, string>>): readonly ReadonlyPod[] {
    const entries = Object.entries(labels)
    const [first] = labelValues(namespace, labels)
    if (first === undefined) return []
    return this.#index.get(first).filter(({ metadata }) => entries.every(([key, value]) => metadata.labels?.[key] === value))
  }
}

/** Returns the index values of labels in a namespace, in a fixed order. */
export function labelValues(namespace = '', labels: DeepReadonly<Record<string, string>> = {}): string[] {
  return Object.entries(labels)
    .map(([key, value]) => `${namespace}/${key}=${value}`)
    .sort()
}
