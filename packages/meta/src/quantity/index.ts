export { normalizeQuantity, Quantity, type QuantityFields, readQuantityFields } from './quantity.ts'
export { type QuantityFormat, quantityFormatError } from './quantity-text.ts'
