import type { DeepReadonly } from '@krmkit/meta'
import { LabelSelector, type LabelSelectorObject, labelSelectorFromLabels, labelSelectorFromObject } from '@krmkit/meta/selectors'
import type { SharedInformers } from '../framework/shared-informers.ts'
import { controllerName, type PodInfo } from './node-info.ts'
import { replicaSets, replicationControllers, type Selecting, services, statefulSets } from './objects.ts'

/**
 * Returns a function that finds the default spreading selector of a pod: the selectors of its services and its workload
 * combined.
 */
export function createDefaultSelector(informers: SharedInformers): (info: PodInfo) => LabelSelector | undefined {
  const byNamespace = informers.index(services, 'namespace', ({ metadata }) => [metadata.namespace ?? ''])
  const controllers = informers.of(replicationControllers)
  const sets = [replicaSets, statefulSets].map((resource) => ({ kind: resource.kind, informer: informers.of(resource) }))
  return ({ pod, namespace, labels }) => {
    const required: Record<string, string> = {}
    for (const service of byNamespace.get(namespace)) {
      const selector = plainSelector(service)
      const isSelected = selector !== undefined && Object.entries(selector).every(([key, value]) => labels[key] === value)
      if (isSelected) Object.assign(required, selector)
    }
    const controller = controllerName(pod, replicationControllers.kind)
    if (controller !== undefined) Object.assign(required, plainSelector(controllers.get(controller, namespace)))
    const selectors = Object.keys(required).length === 0 ? [] : [labelSelectorFromLabels(required)]
    for (const { kind, informer } of sets) {
      const owner = controllerName(pod, kind)
      const selector = owner === undefined ? undefined : informer.get(owner, namespace)?.spec?.selector
      if (selector != null) selectors.push(labelSelectorFromObject(selector as LabelSelectorObject))
    }
    const requirements = selectors.flatMap((selector) => selector.requirements)
    return requirements.length === 0 ? undefined : new LabelSelector(requirements)
  }
}

function plainSelector(object: DeepReadonly<Selecting> | undefined): Readonly<Record<string, string>> | undefined {
  const selector = object?.spec?.selector
  return selector == null || Object.keys(selector).length === 0 ? undefined : (selector as Readonly<Record<string, string>>)
}
