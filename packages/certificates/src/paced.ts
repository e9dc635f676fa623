/**
 * Pausable forms of functions of this package, under the same names, for long texts. Run them with a `Pace` of
 * `@krmkit/base/work`.
 */

export { validateTrustBundle } from './request/trust-bundle.ts'
