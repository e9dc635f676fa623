/** Helpers for roles: aggregation and formatting of rules. Entry point `@krmkit/authorization/rbac`. */

export { aggregatedRules } from './aggregation.ts'
export { describeRule } from './describe.ts'
