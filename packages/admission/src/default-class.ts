import type { ApiObject, DeepReadonly, GroupResource } from '@krmkit/meta'
import type { ObjectReader } from './interfaces.ts'

/**
 * The class that is marked as the default by one of the annotations: the newest, and among those of one age the first by name.
 */
export async function defaultClass(
  reader: ObjectReader,
  classes: GroupResource,
  annotations: readonly string[],
): Promise<DeepReadonly<ApiObject> | undefined> {
  let chosen: DeepReadonly<ApiObject> | undefined
  for (const each of await reader.list(classes)) {
    if (!annotations.some((annotation) => each.metadata.annotations?.[annotation] === 'true')) continue
    if (chosen === undefined || isBefore(each, chosen)) chosen = each
  }
  return chosen
}

function isBefore(a: DeepReadonly<ApiObject>, b: DeepReadonly<ApiObject>): boolean {
  const [aTime, bTime] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  return aTime === bTime ? (a.metadata.name ?? '') < (b.metadata.name ?? '') : aTime > bTime
}
