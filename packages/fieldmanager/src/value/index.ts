export { canonicalJson, parseJsonText, quoteJson } from './json.ts'
export { compareValues, equalValues, type OptionalJsonValue } from './order.ts'
