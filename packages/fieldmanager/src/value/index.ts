export { canonicalJson, parseJson, quoteJson } from './json.ts'
export { compareValues, equalValues, equalValuesSteps, isMap, type Value } from './order.ts'
