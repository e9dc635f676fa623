export { canonicalJson, parseJson, parseJsonBytes, quoteHtmlSafeJson, quoteJson } from './json.ts'
export { compareValues, equalValues, isNumber, type Value } from './order.ts'
