/** Pausable forms of what this package also offers direct, under the same names: for long texts, run by a `Pace` of `@krmkit/meta/work`. */

export { validateTrustBundle } from './request/trust-bundle.ts'
