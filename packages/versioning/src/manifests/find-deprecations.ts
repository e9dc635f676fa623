import type { KindLifecycle } from '@krmkit/kinds'
import { defaultRelease, isJsonObject, type JsonObject } from '@krmkit/meta'
import { kindStateAt } from '../kind-lifecycle.ts'
import { keyOf, lifecycleTable } from '../lifecycle-table.ts'
import { compareReleases } from '../release.ts'
import { isGone, newestRelease, removalOf, replacementAt } from '../replacements.ts'
import { deprecatedMembers, type FoundMember } from './deprecated-members.ts'
import { type FoundObject, joinPath, type ManifestObjectName, objectsIn, ownMember } from './objects.ts'

/** Finds objects and members that a release no longer serves or deprecates. */

/** The kinds of findings. */
export const deprecationRules = {
  'removed-version': 'The release does not serve this version of the kind.',
  'deprecated-version': 'The release deprecates this version of the kind.',
  'planned-removal': 'A later release deprecates and removes this version of the kind.',
  'removed-field': 'The field, annotation or label has no effect in the release.',
  'deprecated-field': 'The field, annotation or label is deprecated.',
} as const

export type DeprecationRule = keyof typeof deprecationRules

/** A use of a deprecated or removed version or member. */
export interface DeprecationFinding {
  readonly rule: DeprecationRule
  /** `error`: does not work in the release; `warning`: works with a warning; `note`: its deprecation is planned. */
  readonly severity: 'error' | 'warning' | 'note'
  /** Index of the given value. */
  readonly index: number
  readonly object: ManifestObjectName
  /** Path in the given value, such as `items[2].apiVersion`. */
  readonly path: string
  /** First release that deprecates the version or member. */
  readonly deprecated?: string
  /** First release without the version or member. */
  readonly removed?: string
  /** `group/version Kind` that replaces a version, or advice for a field. */
  readonly replacement?: string
  /** Human-readable description. */
  readonly message: string
}

export interface FindDeprecationsOptions {
  /** The release to check against, such as `1.25`. Default: the newest recorded release, including later plans. */
  readonly release?: string
  /** Whether to check the version of the applied configuration of kubectl, too. Default true. */
  readonly lastApplied?: boolean
}

/** Kinds whose deprecation announcement is not recorded in the lifecycles. */
const announced: Readonly<Record<string, { readonly deprecated: string; readonly replacement?: string }>> = {
  'v1 ComponentStatus': { deprecated: '1.19' },
  'v1 Endpoints': { deprecated: '1.33', replacement: 'discovery.k8s.io/v1 EndpointSlice' },
}

/**
 * Finds versions, fields, annotations and labels that a release has removed or deprecates. Items of lists are included.
 * Kinds of other groups are ignored.
 *
 * @param values parsed manifests.
 * @returns findings in the order of the values.
 * @throws VersioningError `InvalidRelease`
 * @example
 * import { findDeprecations } from '@krmkit/versioning'
 * const cronJob = { apiVersion: 'batch/v1beta1', kind: 'CronJob', metadata: { name: 'nightly' } }
 * const [found] = findDeprecations([cronJob], { release: '1.25' })
 * found?.message // 'batch/v1beta1 CronJob was removed in Kubernetes 1.25; use batch/v1 CronJob'
 */
export function findDeprecations(
  values: Iterable<unknown>,
  { release, lastApplied = true }: FindDeprecationsOptions = {},
): DeprecationFinding[] {
  const judge = new Judge(release)
  const findings: DeprecationFinding[] = []
  let index = 0
  for (const value of values) {
    for (const object of objectsIn(value)) {
      findings.push(...judge.object(object, index))
      if (lastApplied) findings.push(...judge.lastApplied(object, index))
    }
    index++
  }
  return findings
}

/** The finding for a version in a release. */
type Verdict = Omit<DeprecationFinding, 'index' | 'object' | 'path'>

class Judge {
  readonly #release: string
  readonly #planned: boolean
  readonly #table = lifecycleTable()
  /** Cache of findings by version. */
  readonly #verdicts = new Map<KindLifecycle, Verdict | undefined>()

  constructor(release: string | undefined) {
    this.#release = release ?? defaultRelease
    this.#planned = release === undefined
    compareReleases(this.#release, newestRelease)
  }

  object(found: FoundObject, index: number): DeprecationFinding[] {
    const { kind, gvk } = found
    const known = this.#table.find(gvk)
    if (known === undefined) return []
    const version = this.#version(found, known, index)
    const members = deprecatedMembers(kind, found.object).flatMap((member) => this.#member(found, member, index))
    return version === undefined ? members : [version, ...members]
  }

  /** Checks the version that `kubectl apply` sent, because the next apply sends it again. */
  lastApplied(found: FoundObject, index: number): DeprecationFinding[] {
    const path = 'metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]'
    const applied = parsed(textOf(found.object))
    if (applied === undefined || ownMember(applied, 'apiVersion') === found.apiVersion) return []
    const [object] = objectsIn(applied)
    const known = object === undefined ? undefined : this.#table.find(object.gvk)
    if (object === undefined || known === undefined) return []
    const finding = this.#version({ ...object, at: found.at }, known, index)
    if (finding === undefined) return []
    const { apiVersion, kind, namespace, name } = found
    const message = `last applied as ${finding.message}`
    return [{ ...finding, object: { apiVersion, kind, namespace, name }, path: joinPath(found.at, path), message }]
  }

  #version(found: FoundObject, known: KindLifecycle, index: number): DeprecationFinding | undefined {
    if (!this.#verdicts.has(known)) this.#verdicts.set(known, this.#verdict(known))
    const verdict = this.#verdicts.get(known)
    if (verdict === undefined) return undefined
    const { apiVersion, kind, namespace, name, at } = found
    return { ...verdict, index, object: { apiVersion, kind, namespace, name }, path: joinPath(at, 'apiVersion') }
  }

  #verdict(known: KindLifecycle): Verdict | undefined {
    const text = keyOf(known)
    const extra = Object.hasOwn(announced, text) ? announced[text] : undefined
    const release = this.#release
    const removed = removalOf(known)
    const deprecated = known.deprecated ?? extra?.deprecated
    const newer = this.#replacement(known, later(release, removed))
    const replacement = newer === undefined ? extra?.replacement : keyOf(newer)
    const facts = {
      ...(deprecated === undefined ? {} : { deprecated }),
      ...(removed === undefined ? {} : { removed }),
      ...(replacement === undefined ? {} : { replacement }),
    }
    const use = replacement === undefined ? adviceFor(known.kind) : `; use ${replacement}`
    if (isGone(known, release)) {
      const gone = removed === undefined ? `is not served by Kubernetes ${release}` : `was removed in Kubernetes ${removed}`
      return { ...facts, rule: 'removed-version', severity: 'error', message: `${text} ${gone}${use}` }
    }
    if (kindStateAt(known, release).phase === 'future' && !isOlder(known, release)) return undefined
    const isDeprecated = deprecated !== undefined && compareReleases(deprecated, release) <= 0
    const until = removed === undefined ? '' : ` and removed in ${removed}`
    if (isDeprecated) {
      const message = `${text} is deprecated since Kubernetes ${deprecated}${until}${use}`
      return { ...facts, rule: 'deprecated-version', severity: 'warning', message }
    }
    if (!this.#planned || removed === undefined) return undefined
    const message = `${text} is to be deprecated in Kubernetes ${deprecated ?? removed}${until}${use}`
    return { ...facts, rule: 'planned-removal', severity: 'note', message }
  }

  /** Returns a replacement that is not deprecated itself, if there is one. */
  #replacement(replaced: KindLifecycle, release: string): KindLifecycle | undefined {
    const first = replacementAt(this.#table.all, { replaced, release })
    if (first === undefined || kindStateAt(first, release).phase !== 'deprecated') return first
    return replacementAt(this.#table.all, { replaced: first, release }) ?? first
  }

  #member(found: FoundObject, member: FoundMember, index: number): DeprecationFinding[] {
    const { apiVersion, kind, namespace, name, at } = found
    const { sort, deprecated, removed, advice } = member
    const since = (start: string | undefined) => start !== undefined && compareReleases(start, this.#release) <= 0
    if (!since(deprecated) && !since(removed)) return []
    const what = `${sort} ${member.name}`
    const use = advice === undefined ? '' : `; ${advice}`
    const facts = {
      index,
      object: { apiVersion, kind, namespace, name },
      path: joinPath(at, member.path),
      ...(deprecated === undefined ? {} : { deprecated }),
      ...(removed === undefined ? {} : { removed }),
      ...(advice === undefined ? {} : { replacement: advice }),
    }
    if (since(removed)) {
      return [
        {
          ...facts,
          rule: 'removed-field',
          severity: 'error',
          message: `${what} has no effect since Kubernetes ${removed}${use}`,
        },
      ]
    }
    const until = removed === undefined ? '' : ` and has no effect from ${removed} on`
    return [
      {
        ...facts,
        rule: 'deprecated-field',
        severity: 'warning',
        message: `${what} is deprecated since Kubernetes ${deprecated}${until}${use}`,
      },
    ]
  }
}

/** Returns the release in which a replacement must exist: not later than the removal of the version. */
function later(release: string, removed: string | undefined): string {
  return removed !== undefined && compareReleases(removed, release) > 0 && compareReleases(removed, newestRelease) <= 0
    ? removed
    : release
}

/** Whether the types of a kind are older than its announcement states. */
function isOlder({ typesFirst }: KindLifecycle, release: string): boolean {
  return typesFirst !== null && compareReleases(typesFirst, release) <= 0
}

/** Returns advice for kinds without a successor. */
function adviceFor(kind: string): string {
  if (kind === 'PodSecurityPolicy') return '; use Pod Security admission (labels of namespaces)'
  if (kind === 'PodPreset') return '; use a mutating admission webhook'
  return ''
}

function textOf(object: JsonObject): string | undefined {
  const metadata = ownMember(object, 'metadata')
  const annotations = isJsonObject(metadata) ? ownMember(metadata, 'annotations') : undefined
  const text = isJsonObject(annotations) ? ownMember(annotations, 'kubectl.kubernetes.io/last-applied-configuration') : undefined
  return typeof text === 'string' ? text : undefined
}

/** Parses the object in an annotation; undefined for text that is not an object. */
function parsed(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
