import type { NamingProfile } from '@krmkit/meta'
import { catalogJson } from '../data/catalog.generated.ts'
import { profileGroup } from './profile.ts'

/**
 * The small part of the facts that discovery needs: which kinds and resources each group version has.
 * Types stay unread until somebody asks for one.
 */

/** A kind as registered; absent members are false or none. */
export interface KindFacts {
  readonly namespaced?: boolean
  /** Has object metadata, as opposed to list metadata or none. */
  readonly object?: boolean
  readonly list?: string
  readonly introduced?: string
  readonly deprecated?: string
  readonly removed?: string
  /** `group,version,kind`. */
  readonly replacement?: string
  /** Type that stands for the kind when it has none of its own: `meta/v1.Table`. */
  readonly aliasOf?: string
  /** An asterisk for group and version = in every group version; otherwise the apiVersion it appears with. */
  readonly registeredAs?: string
}

/** A resource or sub-resource; absent members are false or none. */
export interface ResourceFacts {
  /** Kind of the same group version, or `folder/version.Kind`. */
  readonly kind: string
  readonly namespaced?: boolean
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly verbs?: readonly string[]
  /** Served by older releases only. */
  readonly gone?: boolean
}

export interface VersionFacts {
  /** Served without being asked for. */
  readonly enabled?: boolean
  readonly kinds: Readonly<Record<string, KindFacts>>
  readonly resources: Readonly<Record<string, ResourceFacts>>
}

export interface GroupFacts {
  readonly group: string
  readonly versions: Readonly<Record<string, VersionFacts>>
}

/** By folder: `core`, `apps`, ..., and `meta` for what every group shares. */
export type CatalogFacts = Readonly<Record<string, GroupFacts>>

/** Parses the facts, with groups as the profile spells them; about half a millisecond. */
export function readCatalogFacts(profile: NamingProfile): CatalogFacts {
  const facts = JSON.parse(catalogJson) as CatalogFacts
  return Object.fromEntries(
    Object.entries(facts).map(([folder, each]) => [folder, { ...each, group: profileGroup(each.group, profile) }]),
  )
}
