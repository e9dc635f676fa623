import {
  type Catalog,
  createCatalog,
  customDefinitions,
  type KindLifecycle,
  type ResourceDefinition,
  readLifecycle,
} from '@krmkit/kinds'
import type { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
import { createFeatures, type Features, formatApiVersion, type GroupVersionKind, type JsonObject } from '@krmkit/meta'
import { decode, type StructType } from '@krmkit/schema'
import { compareReleases, kindStateAt } from '@krmkit/versioning'
import { withDefaults } from './defaults.ts'
import { nearestName } from './nearest-name.ts'
import { type ManifestObject, nameOf, own } from './objects.ts'

/** Which kinds there are without a server: those of a release, and those that definitions among the files add. */

export interface OfflineKindsOptions {
  /** `1.33` */
  readonly release: string
  /** Text of `--runtime-config`. */
  readonly runtimeConfig?: string
  readonly featureGates?: Readonly<Record<string, boolean>>
}

/** Its kinds are all known. */
export const newestRelease = '1.33'

/** What is known of a kind that a file names. */
export type FoundKind =
  | {
      readonly kind: 'found'
      readonly definition: ResourceDefinition /** Set for what a server does not serve unasked. */
      readonly unserved?: string
    }
  /** The release has it, but its fields are not known here. */
  | { readonly kind: 'unchecked'; readonly message: string }
  /** `gone`: before its time or after. `custom`: of a group that no release has, and that no definition defines. */
  | { readonly kind: 'missing'; readonly why: 'gone' | 'unknown' | 'custom'; readonly message: string }

export class OfflineKinds {
  readonly features: Features
  readonly #catalog: Catalog
  readonly #release: string
  readonly #runtimeConfig: string
  readonly #custom = new Map<string, ResourceDefinition>()
  /** Every version of a custom kind that a definition mentions: group/kind -> versions. */
  readonly #customVersions = new Map<string, string[]>()
  /** Definitions that cannot be used, by group: why. */
  readonly #broken = new Map<string, string>()
  #served: Catalog | undefined
  #lives: readonly KindLifecycle[] | undefined

  /** @throws KindsError `InvalidRuntimeConfig`; RangeError for a release that is none. */
  constructor({ release, runtimeConfig = '', featureGates = {} }: OfflineKindsOptions) {
    this.features = createFeatures(release, featureGates)
    this.#release = /^v?(\d+\.\d+)/.exec(release)?.[1] ?? release
    this.#runtimeConfig = runtimeConfig
    this.#catalog = createCatalog({ runtimeConfig: 'api/all=true', features: this.features })
    if (runtimeConfig !== '') this.#servedCatalog()
  }

  find(gvk: GroupVersionKind): FoundKind {
    const custom = this.#custom.get(key(gvk))
    if (custom !== undefined) return { kind: 'found', definition: custom }
    const definition = this.#catalog.serving(gvk)
    return definition === undefined ? this.#whyMissing(gvk) : this.#builtIn(definition)
  }

  /** The type of an object's kind, where one is known. */
  typeOf(gvk: GroupVersionKind): StructType | undefined {
    const found = this.find(gvk)
    return found.kind === 'found' ? found.definition.kind.type() : undefined
  }

  /** Learns the kinds of a CustomResourceDefinition; anything else is passed over. Mistakes in it are for validation to tell. */
  define(object: ManifestObject): void {
    const { apiVersion, kind } = nameOf(object)
    if (apiVersion !== 'apiextensions.k8s.io/v1' || kind !== 'CustomResourceDefinition') return
    const value = object.value as JsonObject
    const group = groupOf(value)
    try {
      const definition = this.#read(value)
      const objectMeta = this.#catalog.types.struct('meta/v1.ObjectMeta')
      const { names } = definition.spec
      const versions = definition.spec.versions ?? []
      const mentioned = this.#customVersions.get(`${definition.spec.group}/${names.kind}`) ?? []
      this.#customVersions.set(`${definition.spec.group}/${names.kind}`, [...mentioned, ...versions.map(({ name }) => name)])
      for (const each of customDefinitions(definition, { objectMeta })) {
        each.kind.type()
        this.#custom.set(key(each.kind), each)
      }
    } catch (error) {
      if (group !== undefined) this.#broken.set(group, error instanceof Error ? error.message : String(error))
    }
  }

  #read(value: JsonObject): CustomResourceDefinition {
    const gvk = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' }
    const own = this.#catalog.serving(gvk) as ResourceDefinition
    const type = own.kind.type()
    const filled = withDefaults(own, decode<JsonObject>(type, value, { collect: false }).object)
    // Names count as accepted, whatever a status says that came along.
    const { status: _, ...definition } = filled as CustomResourceDefinition
    return definition
  }

  #builtIn(definition: ResourceDefinition): FoundKind {
    const { group, version, resource } = definition
    if (/^v\d+$/.test(version) || this.#servedCatalog().resource({ group, version, resource: resource.name }) !== undefined) {
      return { kind: 'found', definition }
    }
    const flag = `--runtime-config=${formatApiVersion({ group, version })}=true`
    const unserved = `${formatApiVersion(definition.kind)} ${definition.kind.kind} is served only with ${flag}`
    return { kind: 'found', definition, unserved }
  }

  #servedCatalog(): Catalog {
    this.#served ??= createCatalog({ runtimeConfig: this.#runtimeConfig, features: this.features })
    return this.#served
  }

  #whyMissing(gvk: GroupVersionKind): FoundKind {
    const apiVersion = formatApiVersion(gvk)
    this.#lives ??= readLifecycle()
    const life = this.#lives.find(
      ({ group, version, kind }) => group === gvk.group && version === gvk.version && kind === gvk.kind,
    )
    if (life !== undefined && life.list !== null) return this.#atRelease(gvk, life)
    const name = `${apiVersion} ${gvk.kind}`
    if (this.#catalog.kind(gvk) !== undefined) return missing('unknown', `${name} is part of requests, not an object of its own`)
    const group = this.#lives.filter((each) => each.group === gvk.group)
    if (group.length === 0 && !this.#catalog.groups.some((each) => each.group === gvk.group)) return this.#whyNotCustom(gvk, name)
    const elsewhere = this.#catalog.definitions.filter(({ kind }) => kind.kind === gvk.kind)
    const served = [...new Set(elsewhere.map(({ kind }) => formatApiVersion(kind)))]
    if (served.length > 0) return missing('unknown', `there is no ${name}: ${gvk.kind} is in ${served.join(', ')}`)
    const near = nearestName(
      gvk.kind,
      this.#catalog.definitions.map(({ kind }) => kind.kind),
    )
    return missing(
      'unknown',
      `there is no kind ${gvk.kind} in ${apiVersion}${near === undefined ? '' : `; did you mean ${near}?`}`,
    )
  }

  #atRelease(gvk: GroupVersionKind, life: KindLifecycle): FoundKind {
    const name = `${formatApiVersion(gvk)} ${gvk.kind}`
    const { phase, removed, replacement } = kindStateAt(life, this.#release)
    const [group = '', version = '', kind = ''] = replacement?.split(',') ?? []
    const instead = replacement === undefined ? '' : `; use ${formatApiVersion({ group, version })} ${kind}`
    if (phase === 'future')
      return missing('gone', `${name} is not in Kubernetes ${this.#release}: it came with ${life.introduced}`)
    if (phase === 'removed')
      return missing('gone', `${name} is no longer in Kubernetes ${this.#release}: it went with ${removed}${instead}`)
    if (!life.served133 && compareReleases(this.#release, newestRelease) >= 0)
      return missing('gone', `${name} is not in Kubernetes ${this.#release}${instead}`)
    const leaving = removed === undefined ? '' : `; it goes with ${removed}${instead}`
    return { kind: 'unchecked', message: `${name} is too old to be checked here${leaving}` }
  }

  #whyNotCustom(gvk: GroupVersionKind, name: string): FoundKind {
    const versions = this.#customVersions.get(`${gvk.group}/${gvk.kind}`)
    const broken = this.#broken.get(gvk.group)
    if (broken !== undefined) return missing('custom', `the definition of ${name} cannot be used: ${broken}`)
    if (versions !== undefined) {
      const served = versions.filter((version) => this.#custom.has(key({ ...gvk, version })))
      const what = versions.includes(gvk.version) ? 'does not serve' : 'does not have'
      return missing('unknown', `the definition of ${gvk.kind} ${what} ${gvk.version}, but ${served.join(', ') || 'nothing'}`)
    }
    const kinds = [...this.#customVersions.keys()]
      .filter((each) => each.startsWith(`${gvk.group}/`))
      .map((each) => each.slice(gvk.group.length + 1))
    const near = nearestName(gvk.kind, kinds)
    return missing('custom', `no definition of ${name} is among the files${near === undefined ? '' : `; did you mean ${near}?`}`)
  }
}

function missing(why: 'gone' | 'unknown' | 'custom', message: string): FoundKind {
  return { kind: 'missing', why, message }
}

function key({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`
}

function groupOf(value: JsonObject): string | undefined {
  const spec = own(value, 'spec')
  const group = typeof spec === 'object' && spec !== null ? own(spec, 'group') : undefined
  return typeof group === 'string' ? group : undefined
}
