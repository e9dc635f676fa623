/** The pausable form of what this package also offers direct, under the same name: for large objects, run by a `Pace` of `@krmkit/base/work`. */

export { deepFreeze } from './freeze.ts'
