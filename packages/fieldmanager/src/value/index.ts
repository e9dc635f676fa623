export { canonicalJson, parseJson, parseJsonBytes, quoteHtmlSafeJson, quoteJson } from './json.ts'
export { compareValues, equalValues, equalValuesSteps, isMap, isNumber, type Value } from './order.ts'
