export { canonicalJson, parseJsonText, quoteJson } from './json.ts'
export { compareValues, equalValues, equalValuesSteps, type OptionalJsonValue } from './order.ts'
