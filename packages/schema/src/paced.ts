/**
 * Pausable forms of functions of this package, under the same names, for large objects. Run them with a `Pace` of
 * `@krmkit/base/work`.
 */

export { decode } from './decode/decode.ts'
export { applyDefaults } from './decode/defaults.ts'
export { dropEmpties } from './decode/empties.ts'
export { normalize } from './decode/normalize.ts'
export { copyJson } from './json/copy.ts'
export { duplicateProblems } from './json/duplicates.ts'
export { encodeJson, stringifyJson } from './json/encode-json.ts'
export { jsonWeight } from './json/json-weight.ts'
export { parseJson } from './json/parse-json.ts'
export { sortKeys } from './json/shape.ts'
export { decodeProtobuf } from './protobuf/protobuf.ts'
export { validateListTypes } from './structural/list-types.ts'
export { pruneObject, pruneValue } from './structural/prune.ts'
