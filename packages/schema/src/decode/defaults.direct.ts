// Derived from defaults.ts by `npm run direct`: do not edit.

import type { JsonObject } from '@krmkit/meta'
import type { StructType } from '../interfaces.ts'
import { type DefaultsOptions, defaultStruct } from './defaults.ts'
import { planOf } from './plan.ts'

/**
 * Fills in defaults of unset members (absent for pointers, otherwise the zero value), also in existing nested structs, list
 * elements and map values.
 *
 * @param object canonical; never modified.
 * @returns a canonical object that shares unchanged parts with `object` and nothing with other objects; `object` itself when no
 *   default applies.
 * @throws DecodeError `TooLarge`
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { applyDefaults, decode } from '@krmkit/schema'
 * const controller = builtInTypes().struct('core/v1.ReplicationController')
 * const { object } = decode(controller, { spec: { selector: { app: 'web' } } })
 * applyDefaults(controller, object).spec // { replicas: 1, selector: { app: 'web' } }
 */
export function applyDefaults<T extends object>(type: StructType, object: T, options: DefaultsOptions = {}): T {
  if (type.custom !== undefined) return type.custom.applyDefaults(object as JsonObject, options.size) as T
  return defaultStruct(planOf(type), object as Record<string, unknown>, options.size) as T
}
