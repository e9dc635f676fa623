export { canonicalJson, parseJsonBytes, parseJsonText, quoteHtmlSafeJson, quoteJson } from './json.ts'
export { compareValues, equalValues, isNumber, type OptionalJsonValue } from './order.ts'
