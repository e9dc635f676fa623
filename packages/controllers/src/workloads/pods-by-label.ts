import { isLargeValue } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type { ObjectIndex } from '../framework/shared-informers.ts'
import type { ControllerContext } from '../interfaces.ts'
import { type Pod, pods, type ReadonlyPod } from './objects.ts'

/** Finds pods by label, with an index of all labels. */
export class PodsByLabel {
  readonly #index: ObjectIndex<Pod>

  constructor({ informers }: ControllerContext) {
    this.#index = informers.index(pods, 'labels', ({ metadata: { namespace, labels } }) =>
      isLargeValue(labels) ? [wideValue(namespace)] : labelValues(namespace, labels),
    )
  }

  /** Returns the pods of a namespace that have all of these labels; none when `labels` is empty. */
  select(namespace: string, labels: DeepReadonly<Record<string, string>>): readonly ReadonlyPod[] {
    const entries = Object.entries(labels)
    const [first] = labelValues(namespace, labels)
    if (first === undefined) return []
    const candidates = [...this.#index.get(first), ...this.#index.get(wideValue(namespace))]
    return candidates.filter(({ metadata }) => entries.every(([key, value]) => metadata.labels?.[key] === value))
  }
}

/** The index value of the pods of a namespace with very many labels: a value for each label would take long. */
const wideValue = (namespace = ''): string => `${namespace}/`

/** Returns the index values of labels in a namespace, in a fixed order. */
export function labelValues(namespace = '', labels: DeepReadonly<Record<string, string>> = {}): string[] {
  return Object.entries(labels)
    .map(([key, value]) => `${namespace}/${key}=${value}`)
    .sort()
}
