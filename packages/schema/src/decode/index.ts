export { DecodedSize } from '../json/decoded-size.ts'
export { jsonWeight } from '../json/json-weight.direct.ts'
export { base64ToBytes, bytesToBase64 } from './base64.ts'
export { decode, decodeUntyped } from './decode.direct.ts'
export { type DecodedCopy, type DecodeOptions, strictMessage } from './decode.ts'
export { applyDefaults } from './defaults.direct.ts'
export type { DefaultsOptions } from './defaults.ts'
export { dropEmpties } from './empties.direct.ts'
export { normalize } from './normalize.direct.ts'
export {
  decodeFailureMessage,
  missingTypeMeta,
  readTypeMeta,
  type TypeMeta,
  unreadableTypeMeta,
} from './type-meta.ts'
