import { MetaError, Quantity } from '@krmkit/meta'
import { declare, type FunctionDeclaration, method, overload } from '../declarations.ts'
import type { Meter } from '../meter.ts'
import { boolType, doubleType, intType, opaqueOf, stringType } from '../types.ts'
import { Double, ErrorValue, normalizeInt, OpaqueValue, type Value } from '../values.ts'
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

const order = (test: (order: number) => boolean) => (_: Meter, a: QuantityValue, b: QuantityValue) =>
  test(a.quantity.compare(b.quantity))
const two = [quantityType, quantityType]

const functions: readonly FunctionDeclaration[] = [
  declare('quantity', overload('string_to_quantity', [stringType], quantityType, parse)),
  declare(
    'isQuantity',
    overload('is_quantity_string', [stringType], boolType, (_: Meter, text: string) => Quantity.isValid(text)),
  ),
  declare(
    'sign',
    method('quantity_sign', [quantityType], intType, (_: Meter, { quantity }: QuantityValue) => quantity.sign()),
  ),
  declare(
    'isGreaterThan',
    method(
      'quantity_is_greater_than',
      two,
      boolType,
      order((each) => each > 0),
    ),
  ),
  declare(
    'isLessThan',
    method(
      'quantity_is_less_than',
      two,
      boolType,
      order((each) => each < 0),
    ),
  ),
  declare(
    'compareTo',
    method('quantity_compare_to', two, intType, (_: Meter, a: QuantityValue, b: QuantityValue) =>
      Math.sign(a.quantity.compare(b.quantity)),
    ),
  ),
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
  declare(
    'add',
    method(
      'quantity_add',
      two,
      quantityType,
      (_: Meter, a: QuantityValue, b: QuantityValue) => new QuantityValue(a.quantity.add(b.quantity)),
    ),
    method(
      'quantity_add_int',
      [quantityType, intType],
      quantityType,
      (_: Meter, a: QuantityValue, b: Int) => new QuantityValue(a.quantity.add(Quantity.of(b))),
    ),
  ),
  declare(
    'sub',
    method(
      'quantity_sub',
      two,
      quantityType,
      (_: Meter, a: QuantityValue, b: QuantityValue) => new QuantityValue(a.quantity.sub(b.quantity)),
    ),
    method(
      'quantity_sub_int',
      [quantityType, intType],
      quantityType,
      (_: Meter, a: QuantityValue, b: Int) => new QuantityValue(a.quantity.sub(Quantity.of(b))),
    ),
  ),
]

export const quantities: Library = { name: 'quantities', functions, types: [['kubernetes.Quantity', quantityType]] }
