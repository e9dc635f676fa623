import { type AllowedSubject, type BindingObject, formatSubject, type PolicyRule } from '@krmkit/authorization'
import { describeRule } from '@krmkit/authorization/rbac'
import { goQuote } from '@krmkit/meta/go-text'

/** Text and JSON forms of bindings, roles and rules. */

/** `RoleBinding "keys/shop"` */
export function bindingText({ kind, namespace, name }: BindingObject): string {
  return `${kind} ${goQuote(namespace === '' ? name : `${name}/${namespace}`)}`
}

/** `Role "keys"` */
export function roleText({ roleRef: { kind, name } }: BindingObject): string {
  return `${kind} ${goQuote(name)}`
}

export function ruleText(rule: PolicyRule, index: number): string {
  return `rule ${index + 1}: ${describeRule(rule)}`
}

/** The JSON form of a holder of a permission. */
export function holderValue({ subject, binding, rule, ruleIndex }: AllowedSubject): object {
  const { kind, namespace, name, roleRef } = binding
  const home = subject.kind === 'ServiceAccount' ? { namespace: subject.namespace ?? namespace } : {}
  return {
    subject: { kind: subject.kind, name: subject.name, ...home },
    binding: { kind, ...(namespace === '' ? {} : { namespace }), name },
    role: { kind: roleRef.kind, name: roleRef.name },
    rule,
    ruleIndex,
  }
}

/** Aligns rows in columns; the last column is not padded. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((text, i) => (i === row.length - 1 ? text : text.padEnd((widths[i] ?? 0) + 3)))
        .join('')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('')
}

export function holderRow(holder: AllowedSubject): readonly string[] {
  const { binding, rule, ruleIndex } = holder
  return [formatSubject(holder), bindingText(binding), roleText(binding), ruleText(rule, ruleIndex)]
}
