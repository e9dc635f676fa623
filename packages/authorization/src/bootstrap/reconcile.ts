/**
 * Reconciliation of existing default roles and bindings: restores missing rules, subjects, labels and annotations, keeps additions, and
 * skips objects with the annotation `autoupdate: "false"`.
 */

import { type NamingProfile, stockProfile } from '@krmkit/meta'
import type { PolicyRule, StoredObject, Subject } from '../interfaces.ts'
import { covers } from '../rbac/coverage.ts'
import { readBinding, readRole } from '../rbac/objects.ts'
import { autoUpdateAnnotation, type BootstrapBinding, type BootstrapRole } from './bootstrap-policy.ts'

export type ReconcileResult<T> =
  | { readonly action: 'keep' }
  | { readonly action: 'update'; readonly object: T }
  /** The role of a binding is immutable: the binding must be deleted and recreated. */
  | { readonly action: 'replace'; readonly object: T }

const keep = { action: 'keep' } as const

/**
 * Computes the update that restores a default role: adds missing rules, labels and annotations, and keeps additions.
 *
 * @example
 * ```ts
 * import { bootstrapPolicy, reconcileRole } from '@krmkit/authorization/bootstrap'
 *
 * const expected = bootstrapPolicy().clusterRoles.find(({ metadata }) => metadata.name === 'system:node')!
 * reconcileRole(expected, expected) // { action: 'keep' }
 * reconcileRole(expected, { ...expected, rules: [] }).action // 'update'
 * ```
 */
export function reconcileRole(
  expected: BootstrapRole,
  stored: StoredObject,
  profile: NamingProfile = stockProfile,
): ReconcileResult<BootstrapRole> {
  if (isProtected(stored, profile)) return keep
  const next = structuredClone(stored) as BootstrapRole
  let changed = mergeMetadata(next, expected)
  // The aggregation controller owns the rules of aggregated roles.
  if (expected.aggregationRule === undefined || stored['aggregationRule'] === undefined) {
    const held = readRole(stored).rules
    const missing = missingRules(held, expected.rules ?? [])
    if (missing.length > 0) {
      next.rules = [...(next.rules ?? []), ...missing]
      changed = true
    }
  }
  const wanted = expected.aggregationRule?.clusterRoleSelectors ?? []
  const present = next.aggregationRule?.clusterRoleSelectors ?? []
  const absent = wanted.filter((selector) => !present.some((each) => isSameJson(each, selector)))
  if (absent.length > 0) {
    next.aggregationRule = { clusterRoleSelectors: [...present, ...absent] }
    changed = true
  }
  return changed ? { action: 'update', object: next } : keep
}

/**
 * Computes the update that restores a default binding: adds missing subjects, labels and annotations, and keeps additions.
 *
 * @example
 * ```ts
 * import { bootstrapPolicy, reconcileBinding } from '@krmkit/authorization/bootstrap'
 *
 * const expected = bootstrapPolicy().clusterRoleBindings.find(({ metadata }) => metadata.name === 'cluster-admin')!
 * reconcileBinding(expected, { ...expected, subjects: [] }).action // 'update'
 * reconcileBinding(expected, { ...expected, roleRef: { ...expected.roleRef, name: 'view' } }).action // 'replace'
 * ```
 */
export function reconcileBinding(
  expected: BootstrapBinding,
  stored: StoredObject,
  profile: NamingProfile = stockProfile,
): ReconcileResult<BootstrapBinding> {
  if (isProtected(stored, profile)) return keep
  const binding = readBinding(stored)
  if (binding.roleRef.kind !== expected.roleRef.kind || binding.roleRef.name !== expected.roleRef.name) {
    return { action: 'replace', object: expected }
  }
  const next = structuredClone(stored) as BootstrapBinding
  let changed = mergeMetadata(next, expected)
  const missing = (expected.subjects ?? []).filter((subject) => !binding.subjects.some((each) => isSameSubject(each, subject)))
  if (missing.length > 0) {
    next.subjects = [...(next.subjects ?? []), ...missing]
    changed = true
  }
  return changed ? { action: 'update', object: next } : keep
}

function isProtected({ metadata }: StoredObject, profile: NamingProfile): boolean {
  return metadata.annotations?.[autoUpdateAnnotation(profile)] === 'false'
}

/** Adds missing labels and annotations; existing values are kept. */
function mergeMetadata(next: BootstrapRole | BootstrapBinding, expected: BootstrapRole | BootstrapBinding): boolean {
  let changed = false
  for (const member of ['labels', 'annotations'] as const) {
    for (const [key, value] of Object.entries(expected.metadata[member] ?? {})) {
      const present = next.metadata[member] ?? {}
      if (Object.hasOwn(present, key)) continue
      next.metadata[member] = { ...present, [key]: value }
      changed = true
    }
  }
  return changed
}

function missingRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const coverage = covers(held, wanted)
  return coverage.outcome === 'uncovered' ? coverage.missing : []
}

function isSameSubject(a: Subject, b: Subject): boolean {
  return a.kind === b.kind && a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '')
}

function isSameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
