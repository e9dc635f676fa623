import { isJsonObject } from '@krmkit/meta'
import type { ValidationFinding } from './findings.ts'
import { ownMember } from './objects.ts'
import { ValidateError } from './validate-error.ts'

/**
 * Baselines: known findings that are not reported, so that a project can introduce validation before it has fixed all
 * findings.
 */

/**
 * A known finding. The line and the file of an object are not compared, so that a finding stays known after other edits and
 * when files are moved.
 */
export interface BaselineEntry {
  readonly rule: string
  /** `apps/v1/Deployment/shop/web`; for findings without an object, the path of the file. */
  readonly subject: string
  readonly path: string
  readonly message: string
  /** Number of occurrences. */
  readonly count: number
}

/** The content of a baseline file. */
export interface ValidationBaseline {
  readonly formatVersion: 1
  readonly findings: readonly BaselineEntry[]
}

/**
 * Creates the baseline of all given findings, in a canonical order.
 *
 * @example
 * import { createValidationBaseline, validateManifests } from 'krmkit/validate'
 * const files = [{ path: 'a.yaml', text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndate: {}\n' }]
 * const { findings } = await validateManifests(files)
 * const baseline = createValidationBaseline(findings)
 * const { summary } = await validateManifests(files, { baseline })
 * summary // { files: 1, objects: 1, errors: 0, warnings: 0, unchecked: 0, known: 1 }
 */
export function createValidationBaseline(findings: readonly ValidationFinding[]): ValidationBaseline {
  const entries = new Map<string, BaselineEntry>()
  for (const finding of findings) {
    const key = keyOf(finding)
    const count = (entries.get(key)?.count ?? 0) + 1
    entries.set(key, { ...identityOf(finding), count })
  }
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
  return { formatVersion: 1, findings: sorted.map(([, entry]) => entry) }
}

/**
 * Reads the text of a baseline file.
 *
 * @throws ValidateError `InvalidBaseline`
 * @see {@link createValidationBaseline}
 */
export function parseValidationBaseline(text: string): ValidationBaseline {
  const value = parse(text)
  const findings = isJsonObject(value) ? ownMember(value, 'findings') : undefined
  if (!isJsonObject(value) || !Array.isArray(findings)) throw invalid('it has no list of findings')
  if (value.formatVersion !== 1) throw invalid(`its formatVersion is ${JSON.stringify(value.formatVersion)}, not 1`)
  return { formatVersion: 1, findings: findings.map(entryOf) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid('it is not JSON', cause)
  }
}

function entryOf(value: unknown, index: number): BaselineEntry {
  if (!isJsonObject(value)) throw invalid(`findings[${index}] is not an object`)
  const text = (name: string): string => {
    const member = ownMember(value, name)
    if (typeof member !== 'string') throw invalid(`findings[${index}].${name} is not a string`)
    return member
  }
  const count = ownMember(value, 'count') ?? 1
  if (!Number.isSafeInteger(count) || (count as number) < 1) throw invalid(`findings[${index}].count is not a positive integer`)
  return {
    rule: text('rule'),
    subject: text('subject'),
    path: text('path'),
    message: text('message'),
    count: count as number,
  }
}

function invalid(message: string, cause?: unknown): ValidateError {
  return new ValidateError({ code: 'InvalidBaseline', message: `invalid baseline: ${message}`, cause })
}

/** Counts the known findings of one run. */
export class KnownFindings {
  readonly #left = new Map<string, number>()

  constructor({ findings }: ValidationBaseline) {
    for (const entry of findings) this.#left.set(entryKey(entry), (this.#left.get(entryKey(entry)) ?? 0) + entry.count)
  }

  /** Whether the finding is known. Each call consumes one occurrence. */
  take(finding: ValidationFinding): boolean {
    const key = keyOf(finding)
    const left = this.#left.get(key) ?? 0
    if (left > 0) this.#left.set(key, left - 1)
    return left > 0
  }
}

function identityOf({ rule, path, message, object, file }: ValidationFinding): Omit<BaselineEntry, 'count'> {
  const subject =
    object === undefined
      ? file
      : [object.apiVersion, object.kind, object.namespace, object.name].filter((part) => part !== '').join('/')
  // The message contains the position of the other object.
  return { rule, subject, path, message: rule === 'duplicate-object' ? '' : message }
}

function keyOf(finding: ValidationFinding): string {
  return entryKey(identityOf(finding))
}

function entryKey({ rule, subject, path, message }: Omit<BaselineEntry, 'count'>): string {
  return JSON.stringify([subject, rule, path, message])
}
