import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, Features } from '@krmkit/meta'
import type { Pod } from '../../../types/core-v1.generated.ts'
import { raiseGeneration, settleGeneration, startGeneration } from '../../shared/metadata.ts'

/** Pods have a generation since 1.33. */

interface Release {
  readonly features: Features
}

export function startPodGeneration(pod: Pod, { features }: Release): void {
  if (hasGeneration(features)) startGeneration(pod)
  else delete pod.metadata.generation
}

export function* raisePodGeneration(pod: Pod, old: DeepReadonly<Pod>, { features }: Release): Work {
  if (hasGeneration(features)) yield* raiseGeneration(pod, old, 'spec')
  else settleGeneration(pod, old, false)
}

function hasGeneration({ release }: Features): boolean {
  return release.atLeast('1.33')
}
