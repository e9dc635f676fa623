/**
 * Pausable forms of functions of this package, under the same names, for large objects. Run them with a `Pace` of
 * `@krmkit/base/work`.
 */

export { validateLabelSelector } from './selectors/label-selector.ts'
export { collectErrors } from './validation/error-list.ts'
export {
  validateAnnotations,
  validateBuiltInObjectMeta,
  validateBuiltInObjectMetaUpdate,
  validateLabels,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './validation/object-meta.ts'
