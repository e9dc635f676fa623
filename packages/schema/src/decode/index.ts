export { base64ToBytes, bytesToBase64 } from './base64.ts'
export { type DecodeOptions, decode, decodeSteps, decodeUntyped, strictMessage } from './decode.ts'
export { DecodedSize, jsonWeight, jsonWeightSteps } from './decoded-size.ts'
export { applyDefaults, applyDefaultsSteps, type DefaultsOptions } from './defaults.ts'
export { dropEmpties, dropEmptiesSteps } from './empties.ts'
export { normalize, normalizeSteps } from './normalize.ts'
export {
  decodeFailureMessage,
  missingTypeMeta,
  readTypeMeta,
  type TypeMeta,
  unreadableTypeMeta,
} from './type-meta.ts'
