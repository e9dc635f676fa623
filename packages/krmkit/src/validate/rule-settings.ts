import { type Severity, type ValidationRule, validationRules } from './findings.ts'
import { ValidateError } from './validate-error.ts'

/** Settings that determine which rules are reported, and with which severity. */

/** `off`: findings of the rule are not reported. */
export type RuleSetting = Severity | 'off'

/** A rule whose severity can be chosen. */
export type AdjustableRule = Exclude<ValidationRule, 'unreadable-file' | 'internal'>

/** Settings by rule. For absent rules, each finding keeps its default severity. */
export type RuleSettings = Readonly<Partial<Record<AdjustableRule, RuleSetting>>>

const settings = ['error', 'warning', 'off']
const fixed: readonly string[] = ['unreadable-file', 'internal'] satisfies ValidationRule[]

/**
 * Validates settings from outside of the program.
 *
 * @throws ValidateError `InvalidRule`
 * @example
 * import { parseRuleSettings } from 'krmkit/validate'
 * parseRuleSettings({ 'unknown-field': 'warning', questionable: 'off' })
 * @see {@link validationRules}
 */
export function parseRuleSettings(values: Readonly<Record<string, unknown>>): RuleSettings {
  for (const [rule, setting] of Object.entries(values)) {
    if (!Object.hasOwn(validationRules, rule)) {
      const known = Object.keys(validationRules).filter((each) => !fixed.includes(each))
      throw new ValidateError({ code: 'InvalidRule', message: `unknown rule ${rule}; rules: ${known.join(', ')}` })
    }
    if (fixed.includes(rule)) throw new ValidateError({ code: 'InvalidRule', message: `the rule ${rule} is always an error` })
    if (typeof setting !== 'string' || !settings.includes(setting)) {
      const message = `the rule ${rule} cannot be ${JSON.stringify(setting)}; it must be ${settings.join(', ')}`
      throw new ValidateError({ code: 'InvalidRule', message })
    }
  }
  return values as RuleSettings
}

/** Returns the severity of a finding of a rule. */
export function severityOf(rule: ValidationRule, severity: Severity, rules: RuleSettings): RuleSetting {
  return (rules as Readonly<Partial<Record<ValidationRule, RuleSetting>>>)[rule] ?? severity
}
