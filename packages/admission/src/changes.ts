import { isJsonObject } from '@krmkit/meta'
import type { ObjectChange } from './interfaces.ts'

/**
 * The differences between two states of a JSON value, in the order of the members. Subtrees that are identical by reference are
 * skipped.
 */
export function changesBetween(before: unknown, after: unknown): ObjectChange[] {
  const changes: ObjectChange[] = []
  compare(before, after, '', changes)
  return changes
}

function compare(before: unknown, after: unknown, path: string, changes: ObjectChange[]): void {
  if (before === after) return
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let i = 0; i < Math.max(before.length, after.length); i++) {
      member({ has: i < before.length, value: before[i] }, { has: i < after.length, value: after[i] }, `${path}/${i}`, changes)
    }
    return
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      member(own(before, name), own(after, name), `${path}/${escaped(name)}`, changes)
    }
    return
  }
  changes.push({ op: 'replace', path, before, after })
}

interface Member {
  readonly has: boolean
  readonly value: unknown
}

function member(before: Member, after: Member, path: string, changes: ObjectChange[]): void {
  if (before.has && after.has) compare(before.value, after.value, path, changes)
  else if (after.has) changes.push({ op: 'add', path, after: after.value })
  else if (before.has) changes.push({ op: 'remove', path, before: before.value })
}

function own(value: Record<string, unknown>, name: string): Member {
  return Object.hasOwn(value, name) && value[name] !== undefined
    ? { has: true, value: value[name] }
    : { has: false, value: undefined }
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
