export { fromJson, JsonList, JsonMap, PreservedJson, RawMap, sameJson, toJson } from './json-values.ts'
export {
  ArrayList,
  ComputedMap,
  Double,
  Duration,
  ErrorValue,
  ListValue,
  MapValue,
  type MemberComparison,
  OpaqueValue,
  Optional,
  optionalNone,
  Timestamp,
  Uint,
  type Value,
} from './values.ts'
