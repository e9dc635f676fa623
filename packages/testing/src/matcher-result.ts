/** The result of a matcher, as vitest and jest define it. */
export interface MatcherResult {
  readonly pass: boolean
  readonly message: () => string
}
