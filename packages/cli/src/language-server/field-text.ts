import { fieldLifecycles } from '@krmkit/kinds/releases'
import type { JsonValue } from '@krmkit/meta'
import type { MemberShape } from 'krmkit/validate'
import { isImmutableField } from './immutable-fields.ts'

/** What is known of a field, as Markdown. */

/** Most allowed values that are listed. */
const maxAllowed = 30

/** The type, and below it a list of facts. */
export function fieldText(name: string, member: MemberShape): string {
  const facts = factsOf(member).map((fact) => `- ${fact}`)
  const { description } = member
  return [
    `**${name}**: \`${member.value.type}\``,
    ...(facts.length === 0 ? [] : ['', ...facts]),
    ...(description === undefined ? [] : ['', description]),
  ].join('\n')
}

function factsOf(member: MemberShape): string[] {
  const { value, required, listType, listMapKeys = [], mapType, featureGates = [], limits = [] } = member
  const { allowed } = value
  const lists = {
    atomic: 'replaced as a whole',
    set: 'a set of values',
    map: `items have the keys ${listMapKeys.map(code).join(', ')}`,
  }
  return [
    ...(required ? ['required'] : []),
    ...(member.default === undefined ? [] : [`default: ${code(member.default)}`]),
    ...(allowed === undefined || value.type === 'boolean' ? [] : [`allowed: ${allowedText(allowed)}`]),
    ...limits.map((limit) => code(limit)),
    ...(member.immutable === true || isImmutableField(member.owner, member.name)
      ? ['immutable: it cannot change after creation']
      : []),
    ...(listType === undefined ? [] : [`list: ${lists[listType]}`]),
    ...(mapType === 'atomic' ? ['atomic: one manager owns it as a whole'] : []),
    ...releaseFacts(member),
    ...(featureGates.length === 0 ? [] : [`feature gate: ${featureGates.map(code).join(', ')}`]),
  ]
}

function allowedText(allowed: readonly JsonValue[]): string {
  const shown = allowed.slice(0, maxAllowed).map(code).join(', ')
  return allowed.length > maxAllowed ? `${shown} and ${allowed.length - maxAllowed} others` : shown
}

function releaseFacts({ owner, name }: MemberShape): string[] {
  const lifecycle = fieldLifecycles().find(({ type, field }) => type === owner && field === name)
  if (lifecycle === undefined) return []
  const { introduced, enabled } = lifecycle
  if (enabled === 'never') return [`since Kubernetes ${introduced}, not enabled by default`]
  return [`since Kubernetes ${introduced}${enabled === introduced ? '' : `, enabled by default since ${enabled}`}`]
}

function code(value: JsonValue): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}
