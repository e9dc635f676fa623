/** Matchers for `expect` of vitest and jest: of the requests to a server, and of objects. */

export type { MatcherResult } from './matcher-result.ts'
export type { EqualObjectOptions, MatchedObject } from './object-equality.ts'
export {
  type ExpectedCondition,
  type ManagedOptions,
  type ObjectMatchers,
  type OwnedOptions,
  objectMatchers,
} from './object-matchers.ts'
export {
  type HotLoopOptions,
  type RequestedOptions,
  type RequestMatchers,
  type RequestSource,
  requestMatchers,
} from './request-matchers.ts'
