import type { Decision, RequestTrace } from '@krmkit/apiserver/request-trace'
import { checkReference, type FieldChange, fieldChanges, type ObjectReference, writesOf } from './field-history.ts'
import { parseFieldPath } from './field-path.ts'
import type { LedgerEntry } from './ledger.ts'
import { checkKind } from './option-kinds.ts'

/** Explains which requests changed a field, when and why. Converts to text when printed. */
export interface Explanation {
  readonly path: string
  /** The changes, oldest first. */
  readonly changes: readonly FieldChange[]
  /** One line for each change. */
  readonly text: string
  toString(): string
}

/** Explains a field of an object. @throws TestingError `InvalidPath`, `InvalidOption` */
export function explainField(entries: readonly LedgerEntry[], reference: ObjectReference, path: string): Explanation {
  checkReference('explain', reference)
  checkKind('the path of a field', path, 'text')
  const changes = fieldChanges(writesOf(entries, reference), parseFieldPath(path))
  const { kind = 'object', metadata } = reference
  const subject = `${path} of ${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name ?? ''}`
  const lines = changes.map((change) => `  ${formatChange(change)}`)
  const text = lines.length === 0 ? `no recorded request changed ${subject}` : [`${subject}:`, ...lines].join('\n')
  return { path, changes, text, toString: () => text }
}

function formatChange(change: FieldChange): string {
  const values = `${formatValue(change.before)} -> ${formatValue(change.after)}`
  const { request, manager } = change
  if (request === undefined) return `${values} outside of the recorded requests`
  const who = `by ${request.user}${manager === undefined ? '' : ` (manager ${manager})`}`
  return `${new Date(request.atMs).toISOString()} ${values} ${who}, ${formatRequest(request)}: ${formatCause(change)}`
}

/** Formats the cause of a change: `set by the patch`. */
export function formatCause({ step, plugin, webhook }: FieldChange): string {
  if (step !== 'admission') return causes[step]
  return `set by admission plugin ${plugin}${webhook === undefined ? '' : ` (webhook ${webhook})`}`
}

const causes = {
  body: 'set by the body',
  patch: 'set by the patch',
  apply: 'set by the applied configuration',
  default: 'a default',
  server: 'set by the server',
  deletion: 'deletion',
  unrecorded: 'not recorded',
} as const

/** Formats a request: `patch deployments/scale "web" in default`. */
export function formatRequest(entry: LedgerEntry): string {
  const { verb, resource, subresource, namespace, path } = entry
  if (resource === '') return `${verb} ${path}`
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const name = nameOf(entry)
  return `${verb} ${what}${name === '' ? '' : ` ${JSON.stringify(name)}`}${namespace === '' ? '' : ` in ${namespace}`}`
}

/** Returns the name in the path, or the name of the created object. */
function nameOf({ verb, name, trace }: LedgerEntry): string {
  if (name !== '' || verb !== 'create') return name
  return trace?.writes[0]?.after?.metadata.name ?? ''
}

const maxValueCharacters = 120

/** Formats a JSON value in one short line. */
export function formatValue(value: unknown): string {
  if (value === undefined) return '(absent)'
  const text = JSON.stringify(value)
  return text.length > maxValueCharacters ? `${text.slice(0, maxValueCharacters)}...` : text
}

/** Formats the reason why a request was allowed or denied. */
export function formatAuthorization({ authorization }: RequestTrace): string {
  if (authorization === undefined) return 'not authorized: refused before'
  const { decision, reason, error } = authorization
  const basis = basisOf(authorization)
  const why = [basis, reason, error].filter((text) => text !== undefined && text !== '').join('; ')
  return `${decision === 'allow' ? 'allowed' : 'denied'}${why === '' ? '' : `: ${why}`}`
}

function basisOf({ trace }: Decision): string | undefined {
  if (trace === undefined) return undefined
  const { authorizer, binding, role, ruleIndex } = trace
  if (binding === undefined || role === undefined) return authorizer
  const rule = ruleIndex === undefined ? '' : `rule ${ruleIndex} of `
  return `${authorizer}, ${rule}${role.kind} ${role.name} by ${binding.kind} ${binding.name}`
}
