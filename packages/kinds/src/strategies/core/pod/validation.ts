import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type { Pod, PodSpec } from '../../../types/core-v1.generated.ts'
import { validateImages } from '../../shared/containers.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { validateMetadata } from '../../shared/metadata.ts'
import { validatePodSpec } from '../../shared/pod-spec.ts'
import { emptyPodSpec, validatePodAnnotations } from '../../shared/pod-template.ts'
import { isEmpty, isSet } from '../../shared/values.ts'

const spec = (pod: DeepReadonly<Pod>): DeepReadonly<PodSpec> => pod.spec ?? emptyPodSpec

/** Rules of a pod on create and update. */
export function* validatePod(pod: DeepReadonly<Pod>, errors: ContextErrorList): Work {
  yield* validateMetadata(pod, errors, { namespaced: true })
  const at = errors.child('spec')
  yield* validatePodAnnotations(pod.metadata.annotations, errors.child('metadata').child('annotations'), spec(pod))
  yield* validatePodSpec(spec(pod), at, { isPod: true, podName: pod.metadata.name })
  if (isEmpty(spec(pod).serviceAccountName)) {
    for (const [i, volume] of (spec(pod).volumes ?? []).entries()) {
      for (const [j, source] of (volume.projected?.sources ?? []).entries()) {
        if (!isSet(source.serviceAccountToken)) continue
        const here = at.child('volumes').index(i).child('projected').child('sources').index(j).child('serviceAccountToken')
        here.forbidden('must not be specified when serviceAccountName is not set')
      }
    }
  }
  validateImages(spec(pod).containers, at.child('containers'))
  validateImages(spec(pod).initContainers, at.child('initContainers'))
}
