/** Metadata in writes to `/status` of kinds whose status is written by programs that leave the rest alone. */
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { keep } from './values.ts'

const kept = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'generation', 'deletionTimestamp'] as const

/** Takes the stored object's labels, annotations, finalizers and owners over. */
export function resetStatusMetadata(object: ApiObject, old: DeepReadonly<ApiObject>): void {
  for (const member of kept)
    keep(object.metadata as Record<string, unknown>, old.metadata as DeepReadonly<Record<string, unknown>>, member)
}
