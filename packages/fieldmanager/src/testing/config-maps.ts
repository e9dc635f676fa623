import type { ApiObject, JsonObject, ManagedFieldsEntry } from '@krmkit/meta'
import { createTypeSource } from '@krmkit/schema'
import { applyPatch } from '../managed-fields/apply.direct.ts'
import type { ApplyPatchRequest, ApplyResult } from '../managed-fields/apply.ts'
import { createTypeConverter } from '../managed-fields/type-converter.ts'
import { trackUpdate } from '../managed-fields/update.direct.ts'
import { modelFiles } from './model.ts'
import { deepFreeze } from './vectors.ts'

/** Writes of ConfigMaps; tests only. */

export const source = createTypeSource(modelFiles())
export const types = createTypeConverter({ v1: () => source.struct('core/v1.ConfigMap') })
export const second = 1000

export interface ConfigMap extends ApiObject {
  data?: Record<string, string>
}

export function configMap(data: Record<string, string>, metadata: JsonObject = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'x', ...metadata }, data }
}

export function update(live: ConfigMap | undefined, next: ConfigMap, manager = 'u', now = 0): ConfigMap {
  return deepFreeze(trackUpdate({ live, next, manager, apiVersion: 'v1', now, types }))
}

export function apply(
  live: ConfigMap | undefined,
  data: Record<string, string>,
  manager: string,
  more: Partial<ApplyPatchRequest> = {},
): ApplyResult {
  return applyPatch({ live, applied: configMap(data), manager, force: false, apiVersion: 'v1', now: 0, types, ...more })
}

export function applied(...args: Parameters<typeof apply>): ConfigMap {
  const result = apply(...args)
  if (result.kind !== 'applied') throw new Error(JSON.stringify(result.conflicts))
  return deepFreeze(result.object) as ConfigMap
}

export function owners(object: ApiObject): Record<string, JsonObject | undefined> {
  return Object.fromEntries(
    (object.metadata.managedFields ?? []).map((entry) => [`${entry.manager} ${entry.operation}`, entry.fieldsV1]),
  )
}

export function entry(more: Partial<ManagedFieldsEntry>): ManagedFieldsEntry {
  return {
    manager: 'm',
    operation: 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:k': {} } },
    ...more,
  }
}
