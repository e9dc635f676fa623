/** Pausable forms of what this package also offers direct, under the same names: for large objects, run by a `Pace` of `@krmkit/meta/work`. */

export { validateLabelSelectorSteps as validateLabelSelector } from './selectors/label-selector.ts'
export { collectErrorsSteps as collectErrors } from './validation/error-list.ts'
export {
  validateAnnotationsSteps as validateAnnotations,
  validateBuiltInObjectMetaSteps as validateBuiltInObjectMeta,
  validateBuiltInObjectMetaUpdateSteps as validateBuiltInObjectMetaUpdate,
  validateLabelsSteps as validateLabels,
  validateObjectMetaSteps as validateObjectMeta,
  validateObjectMetaUpdateSteps as validateObjectMetaUpdate,
} from './validation/object-meta.ts'
