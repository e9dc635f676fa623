import type { JsonObject } from '@krmkit/meta'
import type { Converter } from '../merge/converter.ts'
import type { ManagedTypes } from './type-converter.ts'

/** Adapts a TypeConverter to the updater; each object is converted to each version at most once. */
export function converterOf(types: ManagedTypes): Converter {
  const converted = new WeakMap<object, Map<string, JsonObject>>()
  return {
    knows: (version) => types.typed(version) !== undefined,
    convert(object, version) {
      const type = types.typed(version)
      if (type === undefined) return undefined
      if (object.type === type) return object
      const value = object.value as JsonObject
      if (types.convert === undefined || value === null || value === undefined) return { value, type }
      let known = converted.get(value)
      if (known === undefined) {
        known = new Map()
        converted.set(value, known)
      }
      let out = known.get(version)
      if (out === undefined) {
        out = types.convert(value, version)
        known.set(version, out)
      }
      return { value: out, type }
    },
  }
}
