/** Rules that hold for a pod at any time. */
import type { DeepReadonly } from '@krmkit/meta'
import type { Pod, PodSpec } from '../../types/core-v1.generated.ts'
import { checkImages } from '../shared/containers.ts'
import type { Report } from '../shared/field-path.ts'
import { checkMetadata } from '../shared/metadata.ts'
import { checkPodSpec } from '../shared/pod-spec.ts'
import { checkPodAnnotations, emptyPodSpec } from '../shared/pod-template.ts'
import { isEmpty, isSet } from '../shared/values.ts'

const spec = (pod: DeepReadonly<Pod>): DeepReadonly<PodSpec> => pod.spec ?? emptyPodSpec

/** Rules that hold for a pod at any time. */
export function checkPod(pod: DeepReadonly<Pod>, report: Report): void {
  checkMetadata(pod, report, { namespaced: true })
  const at = report.at('spec')
  checkPodAnnotations(pod.metadata.annotations, report.at('metadata').child('annotations'), spec(pod))
  checkPodSpec(spec(pod), at, { isPod: true, podName: pod.metadata.name })
  if (isEmpty(spec(pod).serviceAccountName)) {
    for (const [i, volume] of (spec(pod).volumes ?? []).entries()) {
      for (const [j, source] of (volume.projected?.sources ?? []).entries()) {
        if (!isSet(source.serviceAccountToken)) continue
        const here = at.child('volumes').index(i).child('projected').child('sources').index(j).child('serviceAccountToken')
        here.forbidden('must not be specified when serviceAccountName is not set')
      }
    }
  }
  checkImages(spec(pod).containers, at.child('containers'))
  checkImages(spec(pod).initContainers, at.child('initContainers'))
}
