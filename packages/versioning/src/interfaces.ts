import type { Features } from '@krmkit/meta'

/**
 * How long things last: how stable a version is, when what is deprecated may go, and which features a release has.
 *
 * Releases are written `1.33`; a patch number is read over.
 *
 * @see API protocol specification, 9.1 to 9.3
 */

/** In rising order. A version's name tells its own. */
export type Stability = 'alpha' | 'beta' | 'stable'

/** One version of an API group, from its first release to its last. */
export interface ApiVersionLife {
  /** `v1beta1` */
  readonly version: string
  /** First release that serves it. */
  readonly introduced: string
  /** First release that says it will go. */
  readonly deprecated?: string
  /** First release without it. */
  readonly removed?: string
  /** Version that takes its place. */
  readonly replacement?: string
  /** Fields, values and behaviour that the version is to lose while it stays. */
  readonly drops?: readonly string[]
  /** False when its use is to pass without a warning. */
  readonly warns?: boolean
}

/** What a group plans to do with its versions. */
export interface ApiPlan {
  readonly versions: readonly ApiVersionLife[]
  /** Preferred or storage version, and the release from which it is that one, in rising order. */
  readonly advances?: readonly { readonly release: string; readonly version: string }[]
}

/** Things beside API versions that have a life of their own. */
export type Element =
  /** Commands, flags and configuration of those who use a cluster. */
  | 'userCommand'
  /** The same of those who run one. */
  | 'adminCommand'
  /** What a component does, seen from outside. */
  | 'behavior'
  /** A gate whose feature became stable. */
  | 'graduatedGate'
  /** A gate whose feature is given up. */
  | 'abandonedGate'
  | 'metric'

export interface ElementLife {
  readonly element: Element
  readonly stability: Stability
  /** First release that has it; needed for metrics alone. */
  readonly introduced?: string
  readonly deprecated?: string
  readonly removed?: string
  /** False when its use is to pass without a warning. */
  readonly warns?: boolean
}

/** What a plan has against the rules. */
export interface RuleBreach {
  /** As the specification numbers them: `4a`. */
  readonly rule: '1' | '3' | '4a' | '4b' | '5a' | '5b' | '6' | '7' | '8' | '9' | '9a' | '9b'
  /** The version or element that is concerned. */
  readonly subject: string
  /** For people. */
  readonly message: string
}

/** Days on which releases came out, as `2024-08-13`. Where it does not know a release, three of them make a year. */
export type ReleaseCalendar = Readonly<Record<string, string>>

/** What a gate is from a release on. */
export interface GateStage {
  readonly since: string
  readonly stage: Stability | 'deprecated'
  /** Default: off in alpha and when deprecated, on otherwise. */
  readonly enabled?: boolean
}

/** A feature gate's life, in rising order of releases. */
export interface GateLife {
  readonly name: string
  readonly stages: readonly GateStage[]
}

/** A gate at the release of its set. */
export interface GateState {
  readonly name: string
  readonly stage: GateStage['stage']
  readonly enabled: boolean
  /** Stable gates stay as they are. */
  readonly locked: boolean
}

/** The features of one release, and what may be told about them. */
export interface FeatureGates extends Features {
  /** Gates that the release has, by name. */
  readonly gates: readonly GateState[]
  /** Sentences for people who set what is deprecated or has no effect. */
  readonly warnings: readonly string[]
}
