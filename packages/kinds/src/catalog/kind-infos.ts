import type { GroupVersionKind, NamingProfile } from '@krmkit/meta'
import type { TypeSource } from '@krmkit/schema'
import { profileGroup, stockGroup } from '../groups.ts'
import type { KindInfo } from '../interfaces.ts'
import type { CatalogFacts, KindFacts } from './facts.ts'

/**
 * Finds kinds by group, version and name, whether they are resources or not: `Pod`, but also `Scale`, `Status`,
 * `DeleteOptions` and `AdmissionReview`.
 */
export interface KindIndex {
  /** @returns undefined for an unknown kind. Returns the same object for the same kind. */
  find(gvk: GroupVersionKind): KindInfo | undefined
  /** Every known kind except those registered in all group versions. */
  all(): readonly KindInfo[]
}

/** Deprecations that the markers of the types do not carry. Key: `group/version/kind`. */
const extraLifecycle: Readonly<Record<string, Pick<KindFacts, 'deprecated' | 'replacement'>>> = {
  '/v1/ComponentStatus': { deprecated: '1.19' },
  '/v1/Endpoints': { deprecated: '1.33', replacement: 'discovery.k8s.io,v1,EndpointSlice' },
}

export interface KindIndexOptions {
  readonly types: TypeSource
  readonly profile: NamingProfile
}

export function createKindIndex(facts: CatalogFacts, { types, profile }: KindIndexOptions): KindIndex {
  const folders = new Map(Object.entries(facts).map(([folder, { group }]) => [group, folder]))
  const known = new Map<string, KindInfo>()

  function find(gvk: GroupVersionKind): KindInfo | undefined {
    const key = `${gvk.group}/${gvk.version}/${gvk.kind}`
    const seen = known.get(key)
    if (seen !== undefined) return seen
    const found = own(facts, gvk) ?? shared(gvk)
    if (found === undefined) return undefined
    const info = kindInfo(gvk, found.facts, { type: () => types.struct(found.type), profile })
    known.set(key, info)
    return info
  }

  function own(catalog: CatalogFacts, { group, version, kind }: GroupVersionKind) {
    const folder = folders.get(group)
    const kinds = folder === undefined ? undefined : member(catalog[folder]!.versions, version)?.kinds
    const found = kinds === undefined ? undefined : member(kinds, kind)
    if (
      found === undefined ||
      (found.registeredAs !== undefined && found.registeredAs !== `${stockGroup(group, profile)}/${version}`)
    )
      return undefined
    return { facts: found, type: found.aliasOf ?? `${folder}/${version}.${kind}` }
  }

  /** Kinds of the meta group that belong to every group version, or to the unversioned `v1`. */
  function shared({ group, version, kind }: GroupVersionKind) {
    const found = member(facts.meta!.versions.v1!.kinds, kind)
    const everywhere = found?.registeredAs === '*/*' || (found?.registeredAs === 'v1' && group === '' && version === 'v1')
    return found !== undefined && everywhere ? { facts: found, type: `meta/v1.${kind}` } : undefined
  }

  function all(): KindInfo[] {
    return Object.values(facts).flatMap(({ group, versions }) =>
      Object.entries(versions).flatMap(([version, { kinds }]) =>
        Object.keys(kinds).flatMap((kind) => find({ group, version, kind }) ?? []),
      ),
    )
  }

  return { find, all }
}

interface KindParts {
  readonly type: KindInfo['type']
  readonly profile: NamingProfile
}

function kindInfo({ group, version, kind }: GroupVersionKind, own: KindFacts, { type, profile }: KindParts): KindInfo {
  const extra = member(extraLifecycle, `${group}/${version}/${kind}`)
  const { introduced, deprecated, removed, replacement } = { ...own, ...extra }
  return {
    group,
    version,
    kind,
    listKind: own.list ?? '',
    namespaced: own.namespaced ?? false,
    type,
    ...(introduced === undefined ? {} : { introduced }),
    ...(deprecated === undefined ? {} : { deprecated }),
    ...(removed === undefined ? {} : { removed }),
    ...(replacement === undefined ? {} : { replacement: parseReplacement(replacement, profile) }),
  }
}

/** Parses `group,version,kind`. */
function parseReplacement(text: string, profile: NamingProfile): GroupVersionKind {
  const [group = '', version = '', kind = ''] = text.split(',')
  return { group: profileGroup(group, profile), version, kind }
}

/** Reads own members only, as names come from requests. */
function member<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
