import { MetaError, Quantity } from '@krmkit/meta'
import { declare, type FunctionDeclaration, method, overload } from '../values/declarations.ts'
import type { Meter } from '../values/meter.ts'
import { boolType, doubleType, intType, opaqueOf, stringType } from '../values/types.ts'
import { Double, ErrorValue, normalizeInt, OpaqueValue, type Value } from '../values/values.ts'
import { comparisons } from './comparisons.ts'
import type { Library } from './library.ts'

/** The quantity library: `quantity('500m')`. */

const quantityType = opaqueOf('kubernetes.Quantity')

class QuantityValue extends OpaqueValue {
  readonly type = quantityType
  readonly quantity: Quantity

  constructor(quantity: Quantity) {
    super()
    this.quantity = quantity
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && this.quantity.equals(other.quantity)
  }
}

function parse(_: Meter, text: string): Value {
  try {
    return new QuantityValue(Quantity.parse(text))
  } catch (error) {
    if (error instanceof MetaError) return new ErrorValue(error.message)
    throw error
  }
}

type Int = number | bigint

const two = [quantityType, quantityType]

/** A function of two quantities, or of a quantity and an integer. */
function arithmetic(name: string, id: string, compute: (a: Quantity, b: Quantity) => Quantity): FunctionDeclaration {
  return declare(
    name,
    method(
      id,
      two,
      quantityType,
      (_: Meter, a: QuantityValue, b: QuantityValue) => new QuantityValue(compute(a.quantity, b.quantity)),
    ),
    method(
      `${id}_int`,
      [quantityType, intType],
      quantityType,
      (_: Meter, a: QuantityValue, b: Int) => new QuantityValue(compute(a.quantity, Quantity.of(b))),
    ),
  )
}

const functions: readonly FunctionDeclaration[] = [
  declare('quantity', overload('string_to_quantity', [stringType], quantityType, parse)),
  declare(
    'isQuantity',
    overload('is_quantity_string', [stringType], boolType, (_: Meter, text: string) => Quantity.isValid(text)),
  ),
  declare(
    'sign',
    overload('quantity_sign', [quantityType], intType, (_: Meter, { quantity }: QuantityValue) => quantity.sign()),
  ),
  ...comparisons('quantity', quantityType, (a: QuantityValue, b: QuantityValue) => a.quantity.compare(b.quantity)),
  declare(
    'asApproximateFloat',
    method(
      'quantity_get_float',
      [quantityType],
      doubleType,
      (_: Meter, { quantity }: QuantityValue) => new Double(quantity.approximate()),
    ),
  ),
  declare(
    'asInteger',
    method('quantity_get_int', [quantityType], intType, (_: Meter, { quantity }: QuantityValue): Value => {
      const value = quantity.asInt64()
      return value === undefined ? new ErrorValue('cannot convert value to integer') : normalizeInt(value)
    }),
  ),
  declare(
    'isInteger',
    method(
      'quantity_is_integer',
      [quantityType],
      boolType,
      (_: Meter, { quantity }: QuantityValue) => quantity.asInt64() !== undefined,
    ),
  ),
  arithmetic('add', 'quantity_add', (a, b) => a.add(b)),
  arithmetic('sub', 'quantity_sub', (a, b) => a.sub(b)),
]

export const quantities: Library = { name: 'quantities', functions }
