import type { ElementLifecycle, RuleViolation } from '../interfaces.ts'

/**
 * An API surface: the versions, kinds and fields that a release, a set of definitions or a control plane offers.
 *
 * @see API protocol specification, 9.3
 */
export interface ApiSurface {
  /** Origin of the surface: a file, a release, or a URL. */
  readonly name: string
  /** Release of the surface, such as `1.25`, if it is known. */
  readonly release?: string
  readonly kinds: readonly SurfaceKind[]
  /** Commands, behavior, gates and metrics with a lifecycle. */
  readonly elements?: readonly SurfaceElement[]
}

/** One kind in one version. */
export interface SurfaceKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** Whether objects are stored in this version, if known. */
  readonly storage?: boolean
  /** Whether the version is announced as deprecated. */
  readonly deprecated?: boolean
  /** Release that deprecated the version, if known. */
  readonly deprecatedSince?: string
  /** False if using the deprecated version causes no warning. */
  readonly warns?: boolean
  /** Version of the same group that replaces this version. */
  readonly replacement?: string
  /** Whether versions are converted by changing only `apiVersion`, so that they must have the same fields. */
  readonly convertedByName?: boolean
  /** Absent if the fields are unknown. */
  readonly schema?: SurfaceSchema
}

/** The type of a value. Types may be recursive, so parts are functions. */
export interface SurfaceSchema {
  /** Name of the type, unique in a surface; absent for anonymous types. */
  readonly name?: string
  /** `object`, `array`, `string`, ...; empty if any value is allowed. */
  readonly type: string
  readonly members?: ReadonlyMap<string, SurfaceMember>
  /** Items of a list, or values of a map. */
  readonly items?: () => SurfaceSchema
  readonly enum?: readonly string[]
  /** Whether unspecified members are preserved. */
  readonly open: boolean
}

export interface SurfaceMember {
  readonly required: boolean
  readonly schema: () => SurfaceSchema
}

/** An element other than an API version. */
export interface SurfaceElement extends Pick<ElementLifecycle, 'element' | 'stability' | 'introduced' | 'deprecated' | 'warns'> {
  /** `--insecure-port` */
  readonly name: string
}

/** The rules of the deprecation policy by number. */
export const surfaceRules = {
  '1': 'An element of an API is removed only in a new version.',
  '2': 'Objects survive the conversion between versions without loss.',
  '3': 'A version is not deprecated in favor of a less stable one.',
  '4a': 'Stable versions stay; beta versions stay for 9 months and 3 releases after their deprecation.',
  '4b': 'The storage version changes only after a release that serves both versions.',
  '5a': 'User-facing elements stay for a while after their deprecation.',
  '5b': 'Admin-facing elements stay for a while after their deprecation.',
  '6': 'The use of a deprecated element gives a warning.',
  '7': 'Deprecated behavior stays for a year.',
  '8': 'Feature gates stay for a while after their deprecation.',
  '9': 'The use of a deprecated feature gate gives a warning.',
  '9a': 'Stable metrics stay for 4 releases and 12 months.',
  '9b': 'Stable metrics stay for 3 releases and 9 months after their deprecation.',
} as const satisfies Readonly<Record<RuleViolation['rule'] | '2', string>>

export type SurfaceRule = keyof typeof surfaceRules

/** A difference between two surfaces. */
export interface SurfaceChange {
  readonly sort: 'added' | 'removed' | 'changed' | 'deprecated'
  /** `batch/v1 CronJob`, or the name of an element. */
  readonly subject: string
  /** Path of a field; empty for the kind itself. */
  readonly path: string
  /** Human-readable description. */
  readonly message: string
  /** The rule that the change violates; absent for changes that the policy allows. */
  readonly rule?: SurfaceRule
}
