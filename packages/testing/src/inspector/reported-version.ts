import type { FrozenObject } from '@krmkit/apiserver/request-trace'
import { blameLines, type Change, diffObjects } from '@krmkit/fieldmanager'
import type { JsonObject } from '@krmkit/meta'
import { formatValue } from '../explanation.ts'
import { ownershipChanges } from '../ownership-changes.ts'
import { redactSecret } from './redacted-secrets.ts'
import { isHeavy, shortened, shortenedList } from './short-texts.ts'

export interface ReportedVersion {
  /** Index of the request. */
  readonly request: number
  readonly manager: string
  /** One line for each changed field. */
  readonly changes: readonly string[]
  readonly ownership: readonly string[]
  /** Lines of YAML with their field managers; empty after a removal. */
  readonly lines: readonly { readonly text: string; readonly owners: string; readonly isChanged: boolean }[]
}

const tooLarge = 'the object is too large to be shown'

/** Describes one write of an object, in pausable form. Values of Secrets are redacted. */
export function* describeWrite(
  before: FrozenObject | undefined,
  after: FrozenObject | undefined,
  manager: string,
): Generator<true, Omit<ReportedVersion, 'request'>> {
  if (isHeavy(before) || isHeavy(after)) return { manager: shortened(manager), changes: [tooLarge], ownership: [], lines: [] }
  const shown = redactSecret(after, before)
  const differences = diffObjects(contentOf(redactSecret(before)), contentOf(shown))
  const isChanged = changedFields(differences)
  yield true
  const ownership = shortenedList(ownershipOf(before, after))
  yield true
  const lines = shown === undefined ? [] : blameLines(shown as unknown as JsonObject)
  return {
    manager: shortened(manager),
    changes: shortenedList(
      differences.map(
        ({ kind, field, before: old, after: next }) => `${kind} ${field}: ${formatValue(old)} -> ${formatValue(next)}`,
      ),
    ),
    ownership,
    lines: lines.map(({ text, field, owners }) => ({
      text: shortened(text),
      owners: shortened(owners.map((owner) => owner.manager).join(', ')),
      isChanged: isChanged(field),
    })),
  }
}

function ownershipOf(before: FrozenObject | undefined, after: FrozenObject | undefined): string[] {
  return ownershipChanges(before, after).map(
    ({ manager, operation, subresource, gained, lost }) =>
      `${manager} (${operation}${subresource === '' ? '' : ` ${subresource}`})${[
        ...gained.map((field) => ` +${field}`),
        ...lost.map((field) => ` -${field}`),
      ].join('')}`,
  )
}

/** Returns a function that tells whether a field or one of its ancestors has changed. */
function changedFields(differences: readonly Change[]): (field: string) => boolean {
  const fields = new Set(differences.map(({ field }) => field))
  const lengths = new Set([...fields].map(({ length }) => length))
  return (field) => {
    if (fields.has(field)) return true
    for (let end = 1; end < field.length; end++) {
      const next = field[end]
      if ((next === '.' || next === '[') && lengths.has(end) && fields.has(field.slice(0, end))) return true
    }
    return false
  }
}

/** The object without managedFields and resourceVersion, which every write changes. */
function contentOf(object: FrozenObject | undefined): JsonObject {
  if (object === undefined) return {}
  const { managedFields: _, resourceVersion: __, ...metadata } = object.metadata
  return { ...object, metadata } as unknown as JsonObject
}
