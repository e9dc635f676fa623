export {
  compareElements,
  type ElementParts,
  elementParts,
  type FieldPath,
  fieldElement,
  indexElement,
  type KeyField,
  keyElement,
  type PathElement,
  valueElement,
} from './element.ts'
export { comparePaths, emptySet, type FieldNode, FieldSet, FieldSetBuilder } from './field-set.ts'
export { decodeFieldsV1, encodeFieldsV1 } from './fields-v1.direct.ts'
export { internFieldsV1, maxPathLength } from './fields-v1.ts'
export { formatFieldsV1, parseFieldsV1 } from './fields-v1-text.ts'
export { formatElement, formatPath } from './format-path.ts'
export { fieldSetFromValue } from './from-value.ts'
export { filterSet, prefixMatcher, type SetFilter, type SetMatcher } from './set-filter.ts'
