export { canonicalJson, parseJson, parseJsonBytes, quote, quoteValue } from './json.ts'
export { compareStrings, compareValues, equalValues, isMap, isNumber, type Value } from './order.ts'
