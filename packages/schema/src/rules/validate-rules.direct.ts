// Derived from validate-rules.ts by `npm run direct`: do not edit.
import { runAtOnce } from '@krmkit/base/work'
import type { FieldError, JsonValue } from '@krmkit/meta'
import { CorrelatedObject, uncorrelated } from './rule-correlation.ts'
import type { RuleNode } from './rule-tree.ts'
import { type RuleValidationOptions, RuleValidator } from './validate-rules.ts'

/**
 * Validates a value against the rules of its schema.
 *
 * @returns field errors in the order of kube-apiserver
 * @see {@link createRuleTree}
 */
export function validateRules(node: RuleNode, value: JsonValue, options: RuleValidationOptions = {}): FieldError[] {
  const { old, ratcheting = true } = options
  const checker = new RuleValidator(options)
  const ratchet =
    old === undefined || !ratcheting ? uncorrelated : { current: new CorrelatedObject(value, old, node.schema), outer: undefined }
  return runAtOnce(checker.run({ node, value, path: options.path, old, ratchet }))
}
