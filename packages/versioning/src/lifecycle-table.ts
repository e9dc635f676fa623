import { type KindLifecycle, readLifecycle } from '@krmkit/kinds'
import { formatApiVersion, type GroupVersionKind } from '@krmkit/meta'

/** The recorded lifecycles, parsed on first use. A cache: the table is constant. */

export interface LifecycleTable {
  readonly all: readonly KindLifecycle[]
  find(gvk: GroupVersionKind): KindLifecycle | undefined
}

let table: LifecycleTable | undefined

export function lifecycleTable(): LifecycleTable {
  table ??= createTable()
  return table
}

function createTable(): LifecycleTable {
  const all = readLifecycle()
  const byKind = new Map(all.map((each) => [keyOf(each), each]))
  return { all, find: (gvk) => byKind.get(keyOf(gvk)) }
}

/** `batch/v1beta1 CronJob` */
export function keyOf(gvk: Pick<GroupVersionKind, 'group' | 'version' | 'kind'>): string {
  return `${formatApiVersion(gvk)} ${gvk.kind}`
}
