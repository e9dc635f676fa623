import type { FieldFile, GateFile, VersionFile } from './facts.ts'
import { type Place, wholeFieldText } from './field-text.ts'
import type { Line } from './line-tree.ts'
import type { ReleaseView } from './model.ts'

/** A report in Markdown on what a release changed. */

/** Facts of one subject by key; the values are compared and shown. */
type Subject = ReadonlyMap<string, string>

/** A section of the report. */
interface Section {
  readonly title: string
  facts(view: ReleaseView): Subject
  /** Keys below a key that was added or removed as a whole are not listed. */
  readonly within?: (key: string) => string
}

interface Version extends Place {
  readonly facts: VersionFile
}

function versionsOf({ groups }: ReleaseView): Version[] {
  return [...groups].flatMap(([folder, { versions }]) =>
    Object.entries(versions).map(([version, facts]) => ({ folder, version, facts })),
  )
}

const nameOf = ({ folder, version }: Place) => `${folder}/${version}`

/** A subject with the entries of each version, whose keys are prefixed by it. */
function ofVersions(
  view: ReleaseView,
  separator: string,
  entries: (at: Version) => Iterable<readonly [string, string]>,
): Subject {
  return new Map(
    versionsOf(view).flatMap((at) => [...entries(at)].map(([key, text]) => [`${nameOf(at)}${separator}${key}`, text] as const)),
  )
}

const jsonEntries = (members: Readonly<Record<string, unknown>>) =>
  Object.entries(members).map(([key, value]) => [key, JSON.stringify(value)] as const)

function fieldsOf(at: Version): [string, FieldFile][] {
  return Object.entries(at.facts.types).flatMap(([type, { fields }]) =>
    fields.map((field): [string, FieldFile] => [`${type}.${field.json || `(${field.go})`}`, field]),
  )
}

const typeOfField = (key: string) => key.slice(0, key.lastIndexOf('.'))

function markersOf(at: Version): [string, string][] {
  const ofTypes = Object.entries(at.facts.types).map(([type, { validation }]) => [type, validation] as const)
  const ofFields = fieldsOf(at).map(([key, { validation }]) => [key, validation] as const)
  return [...ofTypes, ...ofFields].flatMap(([key, markers]) => (markers === undefined ? [] : [[key, JSON.stringify(markers)]]))
}

function gateText({ in: component, history }: GateFile): string {
  const stages = history.map(({ since, stage, default: isOn, locked }) => {
    return `${since ?? ''} ${stage} ${isOn ? 'on' : 'off'}${locked ? ' locked' : ''}`.trim()
  })
  return `${component}: ${stages.join(', ')}`
}

function rolesOf(lines: readonly Line[]): Subject {
  return new Map(
    lines.flatMap(({ text: file, lines: objects }) =>
      objects.map(({ text, lines: members }) => [`${file}: ${text}`, members.map((each) => each.text).join(' ')] as const),
    ),
  )
}

const sections: readonly Section[] = [
  {
    title: 'Group versions',
    facts: (view) =>
      new Map(
        versionsOf(view).map((at) => {
          const { served, enabledByDefault } = at.facts
          return [nameOf(at), `${served ? 'served' : 'not served'}, ${enabledByDefault ? 'on' : 'off'} by default`]
        }),
      ),
  },
  { title: 'Kinds', facts: (view) => ofVersions(view, '.', ({ facts }) => jsonEntries(facts.kinds)) },
  { title: 'Resources', facts: (view) => ofVersions(view, '/', ({ facts }) => jsonEntries(facts.resources)) },
  {
    title: 'Types',
    facts: (view) =>
      ofVersions(view, '.', ({ facts }) =>
        Object.entries(facts.types).map(([name, { fields: _, validation: _v, ...members }]) => [name, JSON.stringify(members)]),
      ),
  },
  {
    title: 'Fields',
    within: typeOfField,
    facts: (view) =>
      ofVersions(view, '.', (at) => fieldsOf(at).map(([key, { validation: _, ...field }]) => [key, wholeFieldText(field, at)])),
  },
  {
    title: 'Named types',
    facts: (view) =>
      ofVersions(view, '.', ({ facts }) => [...jsonEntries(facts.named ?? {}), ...jsonEntries(facts.scalars ?? {})]),
  },
  {
    title: 'Enumerations and constants',
    facts: (view) => ofVersions(view, '.', ({ facts }) => [...jsonEntries(facts.enums), ...jsonEntries(facts.constants ?? {})]),
  },
  { title: 'Validation markers', within: typeOfField, facts: (view) => ofVersions(view, '.', markersOf) },
  {
    title: 'Feature gates',
    facts: ({ release }) => new Map(Object.entries(release.featureGates).map(([name, gate]) => [name, gateText(gate)])),
  },
  { title: 'Dependencies of gates', facts: ({ release }) => new Map(jsonEntries(release.featureGateDependencies)) },
  { title: 'Priorities in discovery', facts: ({ release }) => new Map(jsonEntries(release.priorities)) },
  { title: 'Storage versions', facts: ({ release }) => new Map(jsonEntries(release.storageVersions)) },
  { title: 'Table columns', facts: ({ release }) => new Map(jsonEntries(release.columns)) },
  {
    title: 'Admission plugins',
    facts({ release: { admissionPlugins, admissionPluginsOn } }) {
      return new Map(
        admissionPlugins.map((name) => [name, admissionPluginsOn.includes(name) ? 'on by default' : 'off by default']),
      )
    },
  },
  { title: 'Flags of kube-apiserver', facts: ({ release }) => new Map(jsonEntries(release.flags)) },
  { title: 'Default roles', facts: ({ roles }) => rolesOf(roles) },
]

/** What changed from `before` to `after`. */
export function reportChanges(before: ReleaseView, after: ReleaseView): string {
  const moved = new Set<string>()
  const texts = sections.map((section) => {
    const [old, own] = [section.facts(before), section.facts(after)]
    const isInner = (key: string) => section.within !== undefined && moved.has(section.within(key))
    const added = [...own.keys()].filter((key) => !old.has(key) && !isInner(key))
    const removed = [...old.keys()].filter((key) => !own.has(key) && !isInner(key))
    const changed = [...own.keys()].filter((key) => old.has(key) && old.get(key) !== own.get(key))
    for (const key of [...added, ...removed]) moved.add(key)
    return sectionText(section.title, [
      ...added.map((key) => `- added ${code(key)}: ${code(own.get(key)!)}`),
      ...removed.map((key) => `- removed ${code(key)}`),
      ...changed.map((key) => `- changed ${code(key)}: ${code(old.get(key)!)} → ${code(own.get(key)!)}`),
    ])
  })
  return `# Release ${after.release.release} against ${before.release.release}\n\n${texts.join('\n')}`
}

function sectionText(title: string, lines: readonly string[]): string {
  return `## ${title}: ${lines.length === 0 ? 'no changes' : `${lines.length} changes`}\n${lines.length === 0 ? '' : `\n${lines.join('\n')}\n`}`
}

/** Inline code, also of text with backquotes. */
function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}
