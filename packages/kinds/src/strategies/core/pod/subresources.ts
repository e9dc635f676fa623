/** The sub-resource for the ephemeral containers of a running pod, and what it shares with the one that resizes pods. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type { SubresourceStrategy } from '../../../interfaces.ts'
import type { Pod, PodSpec, PodStatus } from '../../../types/core-v1.generated.ts'
import { copy } from '../../shared/copies.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { resetStatusMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { dropDisabledPodFields } from '../../shared/pod-gates.ts'
import { emptyPodSpec } from '../../shared/pod-template.ts'
import { updateRules } from '../../shared/strategy.ts'
import { structDiff } from '../../shared/struct-diff.ts'
import { isSet } from '../../shared/values.ts'
import { raisePodGeneration } from './generation.ts'
import { validateAnnotationUpdates } from './update-validation.ts'
import { validatePod } from './validation.ts'

/** Restores the stored pod except the metadata that a status may change and the members that `change` sets. */
export function* restorePod(pod: Pod, old: DeepReadonly<Pod>, change: (spec: PodSpec) => void): Work {
  const spec = yield* copy<PodSpec>(old.spec ?? emptyPodSpec)
  change(spec)
  yield* resetStatusMetadata(pod, old)
  pod.spec = spec
  if (isSet(old.status)) pod.status = yield* copy<PodStatus>(old.status)
  else delete pod.status
}

export function* validateCommon(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod>, errors: ContextErrorList): Work {
  yield* validateMetadataUpdate(pod, old, errors)
  yield* validatePod(pod, errors)
  yield* validateAnnotationUpdates(pod, old, errors.child('metadata').child('annotations'))
}

/** Adds ephemeral containers; existing ones are immutable. */
export const ephemeralContainersStrategy: SubresourceStrategy<Pod> = {
  *prepareForUpdate(pod, old, context) {
    const added = pod.spec?.ephemeralContainers
    yield* restorePod(pod, old, (spec) => {
      if (added === undefined) delete spec.ephemeralContainers
      else spec.ephemeralContainers = added
      dropDisabledPodFields(spec, old.spec, context.features)
    })
    yield* raisePodGeneration(pod, old, context)
  },
  validateUpdate: updateRules(function* (errors, pod, old, { features }) {
    yield* validateCommon(pod, old, errors)
    const at = errors.child('spec').child('ephemeralContainers')
    // Of containers of one name, which are refused anyway, the last counts.
    const byName = new Map((pod.spec?.ephemeralContainers ?? []).map((container) => [container.name, container]))
    for (const container of old.spec?.ephemeralContainers ?? []) {
      const now = byName.get(container.name)
      const name = JSON.stringify(container.name)
      if (now === undefined) at.forbidden(`existing ephemeral containers ${name} may not be removed\n`)
      else if (!(yield* semanticEqual(now, container))) {
        const diff = yield* structDiff('core.EphemeralContainer', { before: container, after: now }, features)
        at.forbidden(`existing ephemeral containers ${name} may not be changed\n${diff}`)
      }
    }
  }),
}
