import type { CatalogFacts, KindFacts, ResourceFacts, VersionFacts } from '../catalog/facts.ts'
import { catalogHistory } from './catalog-history.generated.ts'

/**
 * The facts of releases after the one that is served by default: those of the latter, with the entries of the history that hold in the release.
 *
 *     35- scheduling group "scheduling.k8s.io"
 *     34- resource/v1 enabled true                      the version, which is on by default
 *     34-36 resource/v1 resource:deviceclasses {"kind":"DeviceClass",...}
 *     34- networking/v1alpha1 kind:IPAddress            without a value: the release lacks the kind
 *
 * `packages/tools/src/generate-types/catalog-history.ts` writes the text.
 */
export function laterFacts(facts: CatalogFacts, minor: number): CatalogFacts {
  const groups: Record<string, OpenGroup> = {}
  for (const [folder, { group, versions }] of Object.entries(facts)) groups[folder] = openGroup(group, versions)
  for (const line of catalogHistory.trim().split('\n')) {
    const [, since, until = minor, place = '', name = '', value] = /^(\d+)-(\d+)? (\S+) (\S+)(?: (.*))?$/.exec(line) ?? []
    if (minor < Number(since) || minor > Number(until)) continue
    const [folder = '', version] = place.split('/')
    if (version === undefined) setGroup(groups, folder, value)
    else reviseVersion(groups[folder]?.versions ?? {}, { version, name, value })
  }
  return groups
}

interface OpenVersion {
  enabled: boolean
  readonly kinds: Record<string, KindFacts>
  readonly resources: Record<string, ResourceFacts>
}

interface OpenGroup {
  readonly group: string
  readonly versions: Record<string, OpenVersion>
}

function openGroup(group: string, versions: Readonly<Record<string, VersionFacts>>): OpenGroup {
  const open = Object.entries(versions).map(([version, { enabled = false, kinds, resources }]) => {
    return [version, { enabled, kinds: { ...kinds }, resources: { ...resources } }] as const
  })
  return { group, versions: Object.fromEntries(open) }
}

function setGroup(groups: Record<string, OpenGroup>, folder: string, value: string | undefined): void {
  if (value === undefined) delete groups[folder]
  else groups[folder] = openGroup(JSON.parse(value) as string, {})
}

interface Entry {
  readonly version: string
  /** `enabled`, `kind:Pod` or `resource:pods/status`. */
  readonly name: string
  /** JSON. */
  readonly value: string | undefined
}

function reviseVersion(versions: Record<string, OpenVersion>, { version, name, value }: Entry): void {
  if (name === 'enabled') {
    if (value === undefined) delete versions[version]
    else versions[version] = { kinds: {}, resources: {}, ...versions[version], enabled: value === 'true' }
    return
  }
  const own = versions[version]
  if (own === undefined) return
  const key = name.slice(name.indexOf(':') + 1)
  const entries: Record<string, unknown> = name.startsWith('kind:') ? own.kinds : own.resources
  if (value === undefined) delete entries[key]
  else entries[key] = JSON.parse(value)
}
