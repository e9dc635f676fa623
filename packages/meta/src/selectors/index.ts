export {
  escapeFieldValue,
  type FieldRequirement,
  FieldSelector,
  parseFieldSelector,
  type SelectableFields,
} from './field-selector.ts'
export { type LabelOperator, LabelRequirement, type Labels } from './label-requirement.ts'
export { validateLabelSelector } from './label-selector.direct.ts'
export {
  everythingSelector,
  LabelSelector,
  type LabelSelectorExpression,
  type LabelSelectorObject,
  labelSelectorFromLabels,
  labelSelectorFromObject,
  nothingSelector,
} from './label-selector.ts'
export { parseLabelSelector } from './label-selector-parser.ts'
export { maxSelectorTerms, truncateSelector } from './selector-limits.ts'
