export { normalizeQuantity, Quantity } from './quantity.ts'
export { type QuantityFields, readQuantityFields } from './quantity-fields.ts'
export { type QuantityFormat, quantityFormatError } from './quantity-text.ts'
