export { normalizeQuantity, Quantity, type QuantityFields, quantityFields } from './quantity.ts'
export { type QuantityFormat, quantityFormatError } from './quantity-text.ts'
