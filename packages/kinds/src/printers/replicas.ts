import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { Cell } from '../interfaces.ts'
import { ageColumn, column, containerColumns, nameColumn, selectorColumn } from './columns.ts'
import { since } from './duration.ts'
import { containerCells, type NamedImage } from './text.ts'

/** Columns of replication controllers and replica sets. */
export const replicaColumns = [
  nameColumn,
  column('Desired', 'integer', 'Desired number of pods.'),
  column('Current', 'integer', 'Current number of pods.'),
  column('Ready', 'integer', 'Number of ready pods.'),
  ageColumn,
  ...containerColumns,
  selectorColumn,
]

interface ReplicaController {
  readonly metadata: DeepReadonly<ApiObject['metadata']>
  readonly spec?: {
    readonly replicas?: number
    readonly template?: { readonly spec?: { readonly containers: readonly NamedImage[] } }
  }
  readonly status?: { readonly replicas?: number; readonly readyReplicas?: number }
}

/** Cells for `replicaColumns`; `selector` is the last one. */
export function replicaCells({ metadata, spec, status }: ReplicaController, now: number, selector: string): Cell[] {
  return [
    metadata.name ?? '',
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    status?.readyReplicas ?? 0,
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.template?.spec?.containers),
    selector,
  ]
}
