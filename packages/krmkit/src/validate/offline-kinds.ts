import { nearestName } from '@krmkit/base/arguments'
import {
  type Catalog,
  type CatalogOptions,
  createCatalog,
  type KindLifecycle,
  type ResourceDefinition,
  readLifecycle,
} from '@krmkit/kinds'
import type { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
import { customResources, loadCustomResources } from '@krmkit/kinds/custom-resources'
import { defaultRelease, type Features, formatApiVersion, type GroupVersionKind, type JsonObject } from '@krmkit/meta'
import { decode, type StructType } from '@krmkit/schema'
import {
  compareReleases,
  createFeatureGates,
  isUnserved,
  kindStateAt,
  type ManifestObjectName,
  replacementAt,
} from '@krmkit/versioning'
import { withDefaults } from './defaults.ts'
import { documentsOf, type ManifestFile } from './documents.ts'
import { messageOf } from './message-of.ts'
import { type ManifestObject, nameOf, objectsOf, ownMember } from './objects.ts'

/** The kinds of a release, and custom resources that files define. */

export interface OfflineKindsOptions {
  /** Kubernetes release, such as `1.33`. */
  readonly release: string
  /** Value of `--runtime-config`. */
  readonly runtimeConfig?: string
  readonly featureGates?: Readonly<Record<string, boolean>>
  /** Replaces `featureGates`. */
  readonly features?: Features
}

/** The result of looking up a kind. */
export type FoundKind =
  | {
      readonly kind: 'found'
      readonly definition: ResourceDefinition
      /** Message for a version that is not served by default. */
      readonly unserved?: string
    }
  /** The release has the kind, but its type is not available. */
  | { readonly kind: 'unchecked'; readonly message: string }
  /**
   * `gone`: not yet, or no longer, in the release. `custom`: neither a built-in group nor defined by a file. `unreadable`:
   * its definition cannot be read.
   */
  | {
      readonly kind: 'missing'
      readonly why: 'gone' | 'unknown' | 'custom' | 'unreadable'
      readonly message: string
      /** The kind that is probably meant, or the kind to use instead. */
      readonly instead?: GroupVersionKind
    }

/**
 * Looks up kinds by group, version and name.
 *
 * @example
 * import { OfflineKinds } from 'krmkit/validate'
 * new OfflineKinds({ release: '1.33' }).find({ group: 'apps', version: 'v1', kind: 'Deploymint' }) // { kind: 'missing', ... }
 */
export class OfflineKinds {
  readonly features: Features
  readonly #options: OfflineKindsOptions
  #catalog: Catalog
  readonly #release: string
  readonly #runtimeConfig: string
  #custom = new Map<string, ResourceDefinition>()
  /** All versions of a custom kind, served or not: group/kind -> versions. */
  #customVersions = new Map<string, readonly string[]>()
  /** Errors of invalid definitions, by group. */
  #broken = new Map<string, string>()
  /** Messages for custom kinds that were looked up without a result. */
  readonly #failed = new Map<string, FoundKind & { readonly kind: 'missing' }>()
  #served: Catalog | undefined
  /** Types and kinds of a release after the default; undefined until {@link load}. */
  #emulation: Pick<CatalogOptions, 'emulated' | 'types'> | undefined
  #lifecycles: readonly KindLifecycle[] | undefined

  /**
   * @param base kinds with the same options, whose catalogs and custom resources are copied.
   * @throws KindsError `InvalidRuntimeConfig`; VersioningError for feature gates that the release does not have.
   */
  constructor(options: OfflineKindsOptions, base?: OfflineKinds) {
    const { release, runtimeConfig = '', featureGates = {} } = options
    this.#options = options
    this.features = base?.features ?? options.features ?? createFeatureGates({ set: featureGates, release })
    this.#release = /^v?(\d+\.\d+)/.exec(release)?.[1] ?? release
    this.#runtimeConfig = runtimeConfig
    this.#catalog = base !== undefined ? base.#catalog : this.#catalogOf('api/all=true')
    if (base !== undefined) {
      this.#emulation = base.#emulation
      this.#served = base.#served
      this.#custom = new Map(base.#custom)
      this.#customVersions = new Map(base.#customVersions)
      this.#broken = new Map(base.#broken)
    }
    if (runtimeConfig !== '') this.#servedCatalog()
  }

  /** Loads the types of a release after the default, which has its own; does nothing for other releases. */
  async load(): Promise<void> {
    if (this.#emulation !== undefined || compareReleases(this.#release, defaultRelease) <= 0) return
    const { emulateRelease, releases, typesAt } = await import('@krmkit/kinds/releases')
    if (!releases.includes(this.#release)) return
    this.#emulation = { emulated: emulateRelease(this.features), types: typesAt(this.#release) }
    this.#catalog = this.#catalogOf('api/all=true')
    this.#served = undefined
  }

  #catalogOf(runtimeConfig: string): Catalog {
    return createCatalog({ runtimeConfig, features: this.features, ...this.#emulation })
  }

  /** Returns a copy; definitions added to the copy are not added to this object. */
  copy(): OfflineKinds {
    return new OfflineKinds(this.#options, this)
  }

  /** Returns all kinds with a type: built-in kinds, and the custom resources added so far. */
  all(): readonly ResourceDefinition[] {
    return [...this.#catalog.definitions, ...this.#custom.values()]
  }

  /** Returns the kind that replaces another kind in the release, if any. */
  replacementOf(gvk: GroupVersionKind): GroupVersionKind | undefined {
    const lifecycle = this.#lifecycleOf(gvk)
    const found =
      lifecycle === undefined ? undefined : replacementAt(this.#allLifecycles(), { replaced: lifecycle, release: this.#release })
    return found === undefined ? undefined : kindOf(found)
  }

  find(gvk: GroupVersionKind): FoundKind {
    const custom = this.#custom.get(key(gvk))
    if (custom !== undefined) return { kind: 'found', definition: custom }
    const definition = this.#catalog.serving(gvk)
    return definition === undefined ? this.#whyMissing(gvk) : this.#builtIn(definition)
  }

  /** Returns the type of a kind; undefined for unknown kinds. */
  typeOf(gvk: GroupVersionKind): StructType | undefined {
    const found = this.find(gvk)
    return found.kind === 'found' ? found.definition.kind.type() : undefined
  }

  /** Adds the kinds that the CustomResourceDefinitions of a text define. */
  async defineAll(file: ManifestFile): Promise<void> {
    if (!file.text.includes('CustomResourceDefinition')) return
    for (const document of documentsOf(file)) {
      if (document.kind === 'document') for (const object of objectsOf(document)) await this.define(object)
    }
  }

  /**
   * Returns the kind of a custom object whose kind has no definition so far, not even an invalid one; otherwise undefined.
   */
  undefinedKind({ apiVersion, kind }: Pick<ManifestObjectName, 'apiVersion' | 'kind'>): GroupVersionKind | undefined {
    const [group = '', version = '', ...rest] = apiVersion.split('/')
    if (group === '' || version === '' || kind === '' || rest.length > 0) return undefined
    const gvk = { group, version, kind }
    if (this.#broken.has(group) || this.#customVersions.has(`${group}/${kind}`)) return undefined
    const found = this.find(gvk)
    return found.kind === 'missing' && found.why === 'custom' ? gvk : undefined
  }

  /** Records that none of the sources defines a kind. */
  notFound(gvk: GroupVersionKind, sources: readonly string[]): void {
    const name = `${formatApiVersion(gvk)} ${gvk.kind}`
    this.#failed.set(key(gvk), missing('custom', `neither the files nor ${sources.join(' nor ')} defines ${name}`))
  }

  /** Records that the definition of a kind cannot be read. */
  unreadable(gvk: GroupVersionKind, reason: string): void {
    const name = `${formatApiVersion(gvk)} ${gvk.kind}`
    this.#failed.set(key(gvk), missing('unreadable', `the definition of ${name} cannot be read: ${reason}`))
  }

  /**
   * Adds the kinds of a CustomResourceDefinition; the first one loads the code for custom resources. Other objects are
   * ignored; validation reports errors of the definition.
   *
   * @param foundFor the kind that the definition was looked up for. Errors then apply only to this kind, and other versions
   *   of the kind can still be looked up.
   */
  async define(object: ManifestObject, { foundFor }: { readonly foundFor?: GroupVersionKind } = {}): Promise<void> {
    const { apiVersion, kind } = nameOf(object)
    if (apiVersion !== 'apiextensions.k8s.io/v1' || kind !== 'CustomResourceDefinition') return
    await loadCustomResources()
    const value = object.value as JsonObject
    const group = groupOf(value)
    try {
      const definition = this.#read(value)
      const objectMeta = this.#catalog.types.struct('meta/v1.ObjectMeta')
      const { names } = definition.spec
      const versions = definition.spec.versions ?? []
      for (const each of customResources().customDefinitions(definition, { objectMeta })) {
        each.kind.type()
        this.#custom.set(key(each.kind), each)
      }
      if (foundFor !== undefined && this.#custom.has(key(foundFor))) return
      const mentioned = this.#customVersions.get(`${definition.spec.group}/${names.kind}`) ?? []
      this.#customVersions.set(`${definition.spec.group}/${names.kind}`, [...mentioned, ...versions.map(({ name }) => name)])
    } catch (error) {
      if (foundFor !== undefined) this.unreadable(foundFor, messageOf(error))
      else if (group !== undefined) this.#broken.set(group, messageOf(error))
    }
  }

  #read(value: JsonObject): CustomResourceDefinition {
    const gvk = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' }
    const own = this.#catalog.serving(gvk) as ResourceDefinition
    const type = own.kind.type()
    const filled = withDefaults(own, decode<JsonObject>(type, value, { collect: false }).object)
    // A definition without status counts as having accepted names.
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
    this.#served ??= this.#catalogOf(this.#runtimeConfig)
    return this.#served
  }

  #whyMissing(gvk: GroupVersionKind): FoundKind {
    const apiVersion = formatApiVersion(gvk)
    const lifecycles = this.#allLifecycles()
    const lifecycle = this.#lifecycleOf(gvk)
    if (lifecycle !== undefined && lifecycle.list !== null) return this.#atRelease(gvk, lifecycle, lifecycles)
    const name = `${apiVersion} ${gvk.kind}`
    if (this.#catalog.kind(gvk) !== undefined) return missing('unknown', `${name} is part of requests, not a stored object`)
    const group = lifecycles.filter((each) => each.group === gvk.group)
    if (group.length === 0 && !this.#catalog.groups.some((each) => each.group === gvk.group)) return this.#whyNotCustom(gvk, name)
    const elsewhere = this.#catalog.definitions.filter(({ kind }) => kind.kind === gvk.kind)
    const served = [...new Set(elsewhere.map(({ kind }) => formatApiVersion(kind)))]
    if (served.length > 0) {
      const instead = served.length === 1 ? elsewhere[0]?.kind : undefined
      return missing('unknown', `unknown kind ${name}: ${gvk.kind} is in ${served.join(', ')}`, instead)
    }
    const suggestion = nearestName(
      gvk.kind,
      this.#catalog.definitions.map(({ kind }) => kind.kind),
    )
    const message = `unknown kind ${gvk.kind} in ${apiVersion}`
    if (suggestion === undefined) return missing('unknown', message)
    const named = this.#catalog.definitions.filter(({ kind }) => kind.kind === suggestion)
    const same = named.find(({ group, version }) => group === gvk.group && version === gvk.version)
    return missing(
      'unknown',
      `${message}; did you mean ${suggestion}?`,
      (same ?? (named.length === 1 ? named[0] : undefined))?.kind,
    )
  }

  #allLifecycles(): readonly KindLifecycle[] {
    this.#lifecycles ??= readLifecycle()
    return this.#lifecycles
  }

  #lifecycleOf(gvk: GroupVersionKind): KindLifecycle | undefined {
    return this.#allLifecycles().find(
      ({ group, version, kind }) => group === gvk.group && version === gvk.version && kind === gvk.kind,
    )
  }

  #atRelease(gvk: GroupVersionKind, lifecycle: KindLifecycle, all: readonly KindLifecycle[]): FoundKind {
    const name = `${formatApiVersion(gvk)} ${gvk.kind}`
    const { phase, removed } = kindStateAt(lifecycle, this.#release)
    const replacement = replacementAt(all, { replaced: lifecycle, release: this.#release })
    const instead = replacement === undefined ? '' : `; use ${formatApiVersion(replacement)} ${replacement.kind}`
    if (phase === 'future')
      return missing('gone', `${name} is not in Kubernetes ${this.#release}: it was added in Kubernetes ${lifecycle.introduced}`)
    if (phase === 'removed') return missing('gone', `${name} was removed in Kubernetes ${removed}${instead}`, replacement)
    if (isUnserved(lifecycle, this.#release))
      return missing('gone', `${name} is not in Kubernetes ${this.#release}${instead}`, replacement)
    const removal = removed === undefined ? '' : `; it is removed in Kubernetes ${removed}${instead}`
    return { kind: 'unchecked', message: `${name} is not validated: its type is not available${removal}` }
  }

  #whyNotCustom(gvk: GroupVersionKind, name: string): FoundKind {
    const failed = this.#failed.get(key(gvk))
    if (failed !== undefined) return failed
    const versions = this.#customVersions.get(`${gvk.group}/${gvk.kind}`)
    const broken = this.#broken.get(gvk.group)
    if (broken !== undefined) return missing('custom', `the definition of ${name} is invalid: ${broken}`)
    if (versions !== undefined) {
      const served = versions.filter((version) => this.#custom.has(key({ ...gvk, version })))
      const problem = versions.includes(gvk.version) ? 'does not serve' : 'does not have'
      const message = `the definition of ${gvk.kind} ${problem} version ${gvk.version}; served: ${served.join(', ') || 'none'}`
      return missing('unknown', message)
    }
    const kinds = [...this.#customVersions.keys()]
      .filter((each) => each.startsWith(`${gvk.group}/`))
      .map((each) => each.slice(gvk.group.length + 1))
    const suggestion = nearestName(gvk.kind, kinds)
    if (suggestion === undefined) return missing('custom', `no file defines ${name}`)
    return missing('custom', `no file defines ${name}; did you mean ${suggestion}?`, { ...gvk, kind: suggestion })
  }
}

/**
 * Identifies an object across versions; an omitted namespace equals `default`.
 *
 * @example
 * import { identityOf, OfflineKinds } from 'krmkit/validate'
 * const name = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: '', name: 'web' }
 * const gvk = { group: 'apps', version: 'v1', kind: 'Deployment' }
 * identityOf(name, gvk, new OfflineKinds({ release: '1.33' })) // 'apps/deployments/default/web'
 */
export function identityOf({ namespace, name }: ManifestObjectName, gvk: GroupVersionKind, kinds: OfflineKinds): string {
  const found = kinds.find(gvk)
  if (found.kind !== 'found') return `${gvk.group}/${gvk.kind}/${namespace}/${name}`
  const { storage, kind } = found.definition
  return `${storage.group}/${storage.resource}/${kind.namespaced ? namespace || 'default' : ''}/${name}`
}

function missing(
  why: (FoundKind & { kind: 'missing' })['why'],
  message: string,
  instead?: GroupVersionKind,
): FoundKind & { kind: 'missing' } {
  return { kind: 'missing', why, message, ...(instead === undefined ? {} : { instead: kindOf(instead) }) }
}

function kindOf({ group, version, kind }: GroupVersionKind): GroupVersionKind {
  return { group, version, kind }
}

function key({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`
}

function groupOf(value: JsonObject): string | undefined {
  const spec = ownMember(value, 'spec')
  const group = typeof spec === 'object' && spec !== null ? ownMember(spec, 'group') : undefined
  return typeof group === 'string' ? group : undefined
}
