/** Objects of the API as the values that kube-apiserver has of them in memory. */

import { memberNames, sort, type Work } from '@krmkit/base/work'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { Quantity, type QuantityFields, type QuantityFormat, readQuantityFields } from '@krmkit/meta/quantity'
import { formatTime, parseInstant } from '@krmkit/meta/time'
import type { GoType, GoTypes } from './go-types.ts'
import type { Meter } from './meter.ts'

/**
 * A value of a {@link GoType}: the values of its fields for a struct, `undefined` for a nil pointer, slice or map, what it points to for
 * another pointer, the canonical text for an instant, empty for that of the year 1.
 */
export type GoValue = undefined | boolean | number | bigint | string | readonly GoValue[] | ReadonlyMap<string, GoValue>

type Json = Readonly<Record<string, unknown>>

/** Converts objects of the API; absent members have the zero value of their type. */
export class GoValues {
  readonly #types: GoTypes
  readonly #meter: Meter

  constructor(types: GoTypes, meter: Meter) {
    this.#types = types
    this.#meter = meter
  }

  /** @param given decoded JSON, or `undefined` */
  *read(type: GoType, given: unknown): Work<GoValue> {
    if (this.#meter.isDue()) yield
    switch (type.kind) {
      case 'bool':
        return given === true
      case 'int':
        return typeof given === 'bigint' ? given : Number(given ?? 0)
      case 'string':
        return typeof given === 'string' ? given : ''
      case 'quantity':
        return (given ?? undefined) !== undefined ? quantityValue(readQuantityFields(String(given))) : [[0, 0], '', '', '']
      case 'instant':
        return typeof given === 'string' ? formatTime(parseInstant(given)) : ''
      case 'pointer':
        return (given ?? undefined) !== undefined ? yield* this.read(type.element, given) : undefined
      case 'slice':
        return Array.isArray(given) ? yield* this.#items(type.element, given) : undefined
      case 'map':
        return (given ?? undefined) !== undefined ? yield* this.#entries(type.element, given as Json) : undefined
      case 'struct':
        return yield* this.#struct(type, given)
    }
  }

  *#items(element: GoType, items: readonly unknown[]): Work<GoValue> {
    const values: GoValue[] = []
    for (const item of items) values.push(yield* this.read(element, item))
    return values
  }

  *#entries(element: GoType, map: Json): Work<GoValue> {
    const entries = new Map<string, GoValue>()
    for (const key of yield* sort([...memberNames(map)], compareCodePoints)) entries.set(key, yield* this.read(element, map[key]))
    return entries
  }

  *#struct(type: GoType, given: unknown): Work<GoValue> {
    if (type.name === 'intstr.IntOrString') return typeof given === 'string' ? [1, 0, given] : [0, Number(given ?? 0), '']
    if (type.name === 'v1.Time') return [yield* this.read(this.#types.type('time.Time'), given)]
    const object = type.name === 'core.PodSpec' ? this.#podSpec((given ?? {}) as Json) : ((given ?? {}) as Json)
    const values: GoValue[] = []
    for (const field of type.fields)
      values.push(yield* this.read(field.type, field.isEmbedded ? object : memberOf(object, field.member)))
    return values
  }

  /** Up to 1.36, members of the host stand in the security context, and a service account has one name. */
  #podSpec(spec: Json): Json {
    const { serviceAccount, hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = spec
    if (!this.#types.type('core.PodSecurityContext').fields.some(({ name }) => name === 'HostNetwork')) return spec
    const host = { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers }
    const securityContext = { ...(spec.securityContext as Json | undefined), ...host }
    return { ...spec, securityContext, serviceAccountName: spec.serviceAccountName || serviceAccount }
  }
}

function quantityValue({ value, scale, decimal, text, format }: QuantityFields): GoValue {
  return [[value, scale], decimal ?? '', text, format]
}

/** The amount of a value of `resource.Quantity`. */
export function quantityOf(value: GoValue): Quantity {
  const [[amount, scale], decimal, , format] = value as [[bigint, number], string, string, QuantityFormat | '']
  const quantity = decimal === '' ? Quantity.of(amount, scale) : Quantity.parse(decimal)
  return quantity.withFormat(format === '' ? 'DecimalSI' : format)
}

/** Whether a value is the zero value of its type, as `reflect.Value.IsZero` finds: an empty slice is not. */
export function isZero(type: GoType, value: GoValue): boolean {
  if (type.kind === 'pointer' || type.kind === 'slice' || type.kind === 'map') return value === undefined
  if (type.kind === 'struct' || type.kind === 'quantity')
    return type.fields.every((field, i) => isZero(field.type, (value as readonly GoValue[])[i]))
  return value === '' || value === false || value === 0 || value === 0n
}

/** An own member; `undefined` for one that is inherited. */
function memberOf(object: Json, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
