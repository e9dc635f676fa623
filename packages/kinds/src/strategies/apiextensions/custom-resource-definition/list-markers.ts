import { type FieldError, field, type Path } from '@krmkit/meta'
import { goStrings, goText } from '@krmkit/meta/go-text'
import { collectErrors } from '@krmkit/meta/validation'
import { goItems } from './go-form.ts'
import type { Schema } from './schema.ts'

/** Rules for `x-kubernetes-list-type`, `x-kubernetes-list-map-keys` and `x-kubernetes-map-type`. */
export function validateListMarkers(schema: Schema, path: Path): FieldError[] {
  const errors: FieldError[] = []
  const listType = schema['x-kubernetes-list-type']
  const mapType = schema['x-kubernetes-map-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const { type = '' } = schema
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(field.invalid(path.child('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'))
  }
  const needsType = (detail: string): void => {
    if (type === '') errors.push(field.required(path.child('type'), detail))
    else errors.push(field.invalid(path.child('type'), type, detail))
  }
  if (mapType !== undefined && type !== 'object') needsType('must be object if x-kubernetes-map-type is specified')
  if (mapType !== undefined && mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(field.notSupported(path.child('x-kubernetes-map-type'), mapType, ['atomic', 'granular']))
  }
  const items = itemsOf(schema)
  if (listType !== undefined && type !== 'array') needsType('must be array if x-kubernetes-list-type is specified')
  else if (listType === 'set' && items !== undefined) errors.push(...validateSetItems(items, path.child('items')))
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType)) {
    errors.push(field.notSupported(path.child('x-kubernetes-list-type'), listType, ['atomic', 'set', 'map']))
  }
  if (keys.length > 0) {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    if (listType === undefined) errors.push(field.required(path.child('x-kubernetes-list-type'), detail))
    else if (listType !== 'map') errors.push(field.invalid(path.child('x-kubernetes-list-type'), listType, detail))
  }
  if (listType === 'map') errors.push(...validateMapItems(schema, keys, path))
  if (items !== undefined && (listType === 'set' || listType === 'map'))
    errors.push(...validateKeyedItems(items, listType, keys, path.child('items')))
  return errors
}

/** The schema of the items, unless there are several. */
export function itemsOf({ items }: Schema): Schema | undefined {
  return items === undefined || items === null || Array.isArray(items) ? undefined : (items as Schema)
}

function validateSetItems(items: Schema, path: Path): FieldError[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const listType = items['x-kubernetes-list-type']
  const mapType = items['x-kubernetes-map-type']
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [field.invalid(path.child('x-kubernetes-list-type'), listType, detail)]
  }
  // kube-apiserver compares the map type with the type of the list here, which objects do not have.
  if (items.type === 'object' && mapType !== 'atomic')
    return [field.invalid(path.child('x-kubernetes-map-type'), listType ?? null, detail)]
  return []
}

function validateMapItems(schema: Schema, keys: readonly string[], path: Path): FieldError[] {
  return collectErrors((errors) => {
    if (keys.length === 0)
      errors.push(field.required(path.child('x-kubernetes-list-map-keys'), 'must not be empty if x-kubernetes-list-type is map'))
    if (schema.items === undefined)
      errors.push(field.required(path.child('items'), 'must have a schema if x-kubernetes-list-type is map'))
    const items = itemsOf(schema)
    if (items === undefined && schema.items !== undefined) {
      const detail = 'must only have a single schema if x-kubernetes-list-type is map'
      errors.push(field.invalid(path.child('items'), goItems(schema.items), detail))
    }
    if (items === undefined) return
    if (items.type !== 'object') {
      errors.push(
        field.invalid(
          path.child('items').child('type'),
          items.type ?? '',
          "must be object if parent array's x-kubernetes-list-type is map",
        ),
      )
      return
    }
    const printed = keys.length > 0 ? goText(goStrings(keys)) : undefined
    const seen = new Set<string>()
    for (const key of keys) {
      const property = Object.hasOwn(items.properties ?? {}, key) ? items.properties?.[key] : undefined
      if (property === undefined)
        errors.push(
          field.invalid(path.child('x-kubernetes-list-map-keys'), printed, 'entries must all be names of item properties'),
        )
      else if (property.type === 'array' || property.type === 'object') {
        const at = path.child('items').child('properties').key(key).child('type')
        errors.push(field.invalid(at, items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"))
      }
      if (seen.has(key))
        errors.push(field.invalid(path.child('x-kubernetes-list-map-keys'), printed, 'must not contain duplicate entries'))
      seen.add(key)
    }
  })
}

/** Items of sets and maps must not be nullable, and their keys must be required. */
function validateKeyedItems(items: Schema, listType: string, keys: readonly string[], path: Path): FieldError[] {
  return collectErrors((errors) => {
    if (items.nullable === true)
      errors.push(field.forbidden(path.child('nullable'), `cannot be nullable when x-kubernetes-list-type is ${listType}`))
    if (listType !== 'map') return
    const required = new Set(items.required)
    for (const key of keys) {
      const property = Object.hasOwn(items.properties ?? {}, key) ? items.properties?.[key] : undefined
      if (property === undefined) continue
      const at = path.child('properties').key(key)
      if (!required.has(key) && (property.default === undefined || property.default === null)) {
        errors.push(
          field.required(
            at.child('default'),
            'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
          ),
        )
      }
      if (property.nullable === true)
        errors.push(
          field.forbidden(at.child('nullable'), 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'),
        )
    }
  })
}
