import type { Features, GroupVersionKind, NamingProfile } from '@krmkit/meta'
import type { StructType } from '@krmkit/schema'
import type { EmulatedRelease } from '../catalog/emulated-release.ts'
import type { CatalogFacts, GroupFacts } from '../catalog/facts.ts'
import { formerConversion } from '../former-versions/index.ts'
import { stockGroup } from '../groups.ts'
import type { Printer, PrinterLoader, Strategy } from '../interfaces.ts'
import { rulesOfRelease } from '../marker-rules/index.ts'
import { earlierDefaults } from './defaults.ts'
import { GatedFields, withGatedFields } from './gated-fields.ts'
import { podSecurityPolicyStrategy } from './pod-security-policy.ts'
import { printerAt } from './printer-columns.ts'
import { factsAt } from './release-facts.ts'
import { minorOf } from './release-names.ts'
import { storageVersionAt } from './resources.ts'

/** The oldest release that can be emulated. */
const oldestMinor = 21

export type EmulationOptions = Pick<EmulatedRelease, 'forwardCompatible' | 'runtimeConfigForwardCompatible'>

/** The facts of a release, with the resources that later releases added. */
function withLater(own: CatalogFacts, newest: CatalogFacts): CatalogFacts {
  const folders = Object.entries(newest).map(([folder, { group, versions }]): [string, GroupFacts] => {
    const merged = { ...own[folder]?.versions }
    for (const [version, { kinds, resources }] of Object.entries(versions)) {
      const present = merged[version] ?? { kinds: {}, resources: {} }
      const later = Object.entries(resources)
        .filter(([name, each]) => each.gone !== true && !Object.hasOwn(present.resources, name.split('/')[0] ?? name))
        .map(([name, each]) => [name, { ...each, later: true }] as const)
      if (later.length === 0) continue
      merged[version] = {
        ...present,
        kinds: { ...kinds, ...present.kinds },
        resources: { ...Object.fromEntries(later), ...present.resources },
      }
    }
    return [folder, { group, versions: merged }]
  })
  return Object.fromEntries(folders)
}

/**
 * What a release serves, for `createCatalog({ emulated })`: its resources, among them those that were removed since, with their defaults
 * and conversions.
 *
 * @param options which younger resources the release serves nevertheless. Default: none.
 * @throws KindsError `UnknownRelease` for a release outside 1.16 to 1.37; RangeError for one before 1.21.
 * @example
 * import { createCatalog } from '@krmkit/kinds'
 * import { emulateRelease, typesAt } from '@krmkit/kinds/releases'
 * import { createFeatures } from '@krmkit/meta'
 * const features = createFeatures('1.24')
 * const catalog = createCatalog({ features, types: typesAt('1.24'), emulated: emulateRelease(features) })
 * catalog.resource({ group: 'batch', version: 'v1beta1', resource: 'cronjobs' })?.kind.removed // '1.25'
 */
export function emulateRelease(features: Features, options: EmulationOptions = {}): EmulatedRelease {
  const release = `1.${minorOf(features.release.version)}`
  if (minorOf(release) < oldestMinor) {
    throw new RangeError(`release ${release} cannot be emulated; the oldest one is 1.${oldestMinor}`)
  }
  const gated = new GatedFields(release, features)
  const rules = rulesOfRelease(features)
  return {
    release,
    ...options,
    ...(rules === undefined ? {} : { markerRules: rules.of }),
    facts(newest) {
      const own = factsAt(newest, release)
      return options.forwardCompatible || options.runtimeConfigForwardCompatible ? withLater(own, newest) : own
    },
    conversion(from, to, profile) {
      const convert = formerConversion(from, to, { profile, defaults: false })
      return convert && ((object) => convert(object))
    },
    storageVersion: (group, resource) => storageVersionAt(release, { group, resource })?.version,
    strategy(strategy, { kind, stored, profile }) {
      const { group, version, kind: name } = stockKind(kind, profile)
      const own = name === 'PodSecurityPolicy' ? podSecurityPolicyStrategy : strategy
      const keys = { key: `${group}/${version}/${name}`, printed: `${group}/${name}` }
      return strategyAt(own, keys, { stored, gated, minor: minorOf(release) })
    },
  }
}

function strategyAt(
  strategy: Strategy,
  { key, printed }: { readonly key: string; readonly printed: string },
  { stored, gated, minor }: { readonly stored: () => StructType; readonly gated: GatedFields; readonly minor: number },
): Strategy {
  const { defaults: stable, printer, ...others } = strategy
  const rest: Strategy =
    printer === undefined ? others : { ...others, printer: printerOfRelease(printer, (each) => printerAt(each, printed, minor)) }
  const defaults = earlierDefaults(key, stable)
  return withGatedFields(defaults === undefined ? rest : { ...rest, defaults }, stored, gated)
}

/** The default printer may become another one; a printer that the release does not change stays what it is. */
function printerOfRelease(printer: Printer | PrinterLoader, map: (printer: Printer) => Printer): Printer | PrinterLoader {
  return typeof printer === 'function' ? async () => map(await printer()) : map(printer)
}

function stockKind({ group, version, kind }: GroupVersionKind, profile: NamingProfile): GroupVersionKind {
  return { group: stockGroup(group, profile), version, kind }
}
