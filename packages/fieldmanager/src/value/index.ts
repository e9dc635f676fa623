export { equalValues } from './equal.direct.ts'
export { canonicalJson, parseJsonText, quoteJson } from './json.ts'
export { compareValues, type OptionalJsonValue } from './order.ts'
