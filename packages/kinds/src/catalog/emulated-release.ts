import type { GroupVersionKind, NamingProfile } from '@krmkit/meta'
import type { StructType } from '@krmkit/schema'
import type { Convert } from '../conversions/convert.ts'
import type { Strategy } from '../interfaces.ts'
import type { MarkerRules } from '../marker-rule-types.ts'
import type { RuledKind } from '../marker-rules/group-rules.ts'
import type { CatalogFacts } from './facts.ts'

/** The kind of a definition and of its stored objects. */
export interface EmulatedKind {
  readonly kind: GroupVersionKind
  /** Type of stored objects. */
  readonly stored: () => StructType
  readonly profile: NamingProfile
}

/** What another release serves instead. Created by `emulateRelease` of `@krmkit/kinds/releases`, which is loaded on demand. */
export interface EmulatedRelease {
  /** `1.24` */
  readonly release: string
  /** The facts of the release, from those of the newest one. Both have stock names. */
  facts(newest: CatalogFacts): CatalogFacts
  /** Whether resources that are younger than the release are served where an older version of them is. Default false. */
  readonly forwardCompatible?: boolean
  /** Whether they are served where `--runtime-config` names them or their version. Default false. */
  readonly runtimeConfigForwardCompatible?: boolean
  /** The conversion between two versions of a kind, of which one is no longer served; undefined for others. */
  conversion(from: GroupVersionKind, to: GroupVersionKind, profile: NamingProfile): Convert | undefined
  /** The version that the release stores, which discovery announces. Group and resource have stock names. */
  storageVersion(group: string, resource: string): string | undefined
  /** The rules that the release enforces as markers of a kind state them. Absent: none. */
  markerRules?(kind: RuledKind): MarkerRules | undefined
  /** The strategy of a kind as the release has it. */
  strategy(strategy: Strategy, at: EmulatedKind): Strategy
}
