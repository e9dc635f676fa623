export { normalizeQuantity, Quantity } from './quantity.ts'
export { type QuantityFormat, quantityFormatError } from './quantity-text.ts'
