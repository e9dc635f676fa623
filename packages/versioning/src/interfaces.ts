import type { FeatureGateState, Features } from '@krmkit/meta'

export type { FeatureGateState } from '@krmkit/meta'
export type { FeatureGateDependency, FeatureGateLifecycle, FeatureGateStage } from '@krmkit/meta/feature-gates'

/**
 * Lifecycles of API versions and other elements, the deprecation policy, and feature gates.
 *
 * Releases are written as `1.33`; patch versions are ignored.
 *
 * @see API protocol specification, 9.1 to 9.3
 */

/** Stability levels, from least to most stable. The name of an API version determines its level. */
export type Stability = 'alpha' | 'beta' | 'stable'

/** The lifecycle of one version of an API group. */
export interface ApiVersionLifecycle {
  /** Such as `v1beta1`. */
  readonly version: string
  /** First release that serves the version. */
  readonly introduced: string
  /** First release that deprecates the version. */
  readonly deprecated?: string
  /** First release without the version. */
  readonly removed?: string
  /** The version that replaces this version. */
  readonly replacement?: string
  /** Fields, values and behavior that are to be removed from the version. */
  readonly drops?: readonly string[]
  /** False if using the deprecated version causes no warning. */
  readonly warns?: boolean
}

/** The planned lifecycle of the versions of a group. */
export interface ApiPlan {
  readonly versions: readonly ApiVersionLifecycle[]
  /** Changes of the preferred or storage version, oldest first. */
  readonly advances?: readonly { readonly release: string; readonly version: string }[]
}

/** Elements other than API versions that the deprecation policy covers. */
export type DeprecatableElement =
  /** User-facing commands, flags and configuration. */
  | 'userCommand'
  /** Admin-facing commands, flags and configuration. */
  | 'adminCommand'
  /** Visible behavior of a component. */
  | 'behavior'
  /** The gate of a feature that became stable. */
  | 'graduatedGate'
  /** The gate of a feature that was abandoned. */
  | 'abandonedGate'
  | 'metric'

export interface ElementLifecycle {
  readonly element: DeprecatableElement
  readonly stability: Stability
  /** First release with the element; required only for metrics. */
  readonly introduced?: string
  readonly deprecated?: string
  readonly removed?: string
  /** False if using the deprecated element causes no warning. */
  readonly warns?: boolean
}

/** A violation of the deprecation policy. */
export interface RuleViolation {
  /** Number of the rule in the specification, such as `4a`. */
  readonly rule: '1' | '3' | '4a' | '4b' | '5a' | '5b' | '6' | '7' | '8' | '9' | '9a' | '9b'
  /** The version or element that violates the rule. */
  readonly subject: string
  /** Human-readable description. */
  readonly message: string
}

/** Release dates such as `2024-08-13`, by release. Missing releases count as three per year. */
export type ReleaseCalendar = Readonly<Record<string, string>>

/** The features of one release with some gates set. */
export interface FeatureGates extends Features {
  /** The gates of the release, with `AllAlpha` and `AllBeta`, sorted by name. */
  readonly gates: readonly FeatureGateState[]
  /** Warnings about gates that were set but are deprecated or stable. */
  readonly warnings: readonly string[]
}
