import type { ApiObject, DeepReadonly, GroupResource } from '@krmkit/meta'
import type { ObjectReader } from './interfaces.ts'

/** The class that one of the annotations marks as the default: the newest, then the first by name. */
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
