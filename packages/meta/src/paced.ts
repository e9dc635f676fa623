/** Pausable forms of what this package also offers direct, under the same names: for large objects, run by a `Pace` of `@krmkit/meta/work`. */

export { deepFreeze } from './freeze.ts'
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
