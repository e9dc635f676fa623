export { canonicalJson, parseJson, quoteJson } from './json.ts'
export { compareValues, equalValues, isMap, type Value } from './order.ts'
