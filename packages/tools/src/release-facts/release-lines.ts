import type { FlagFile, GateFile, GateStage, ReleaseFile } from './facts.ts'
import { cut } from './group-lines.ts'
import { type Line, line } from './line-tree.ts'

/**
 * The facts of a release that belong to no group, as lines:
 *
 *     release 0.37.2
 *     module k8s.io/api v0.37.2
 *     gate AnyVolumeDataSource kubernetes   and its component
 *      1.18 Alpha off                       a stage; `-` for a release that is not stated
 *      1.33 GA on locked
 *     dependency A B                        the gate A needs the gate B
 *     priority apps/v1 17800 15             of the group and the version
 *     stored /pods v1                       the storage version
 *     columns core.Pod
 *      ["Name","string","name","0"]
 *     plugin AlwaysAdmit                    admission plugins in order
 *     pluginOn LimitRanger                  those on by default
 *     enabledResource flowcontrol/v1beta3/flowschemas
 *     flag advertise-address {"type":"IPVar"}
 */
export function linesOfRelease(facts: ReleaseFile): Line[] {
  const { release, modules, featureGates, featureGateDependencies, priorities, storageVersions, columns, flags } = facts
  return [
    line(`release ${release}`),
    ...Object.entries(modules).map(([module, version]) => line(`module ${module} ${version}`)),
    ...Object.entries(featureGates).map(([name, gate]) => line(`gate ${name} ${gate.in}`, gate.history.map(lineOfStage))),
    ...Object.entries(featureGateDependencies).flatMap(([name, needed]) =>
      needed.map((each) => line(`dependency ${name} ${each}`)),
    ),
    ...Object.entries(priorities).map(([name, [group, version]]) => line(`priority ${name} ${group} ${version}`)),
    ...Object.entries(storageVersions).map(([name, version]) => line(`stored ${name} ${version}`)),
    ...Object.entries(columns).map(([kind, rows]) =>
      line(
        `columns ${kind}`,
        rows.map((row) => line(JSON.stringify(row))),
      ),
    ),
    ...facts.admissionPlugins.map((plugin) => line(`plugin ${plugin}`)),
    ...facts.admissionPluginsOn.map((plugin) => line(`pluginOn ${plugin}`)),
    ...(facts.enabledResources ?? []).map((name) => line(`enabledResource ${name}`)),
    ...Object.entries(flags).map(([name, flag]) => line(`flag ${name} ${JSON.stringify(flag)}`)),
  ]
}

function lineOfStage({ since = '-', stage, default: isOn, locked }: GateStage): Line {
  return line(`${since} ${stage} ${isOn ? 'on' : 'off'}${locked ? ' locked' : ''}`)
}

function stageOfLine({ text }: Line): GateStage {
  const [since = '-', stage = '', state, locked] = text.split(' ')
  return {
    ...(since === '-' ? {} : { since }),
    stage,
    default: state === 'on',
    ...(locked === undefined ? {} : { locked: true }),
  }
}

/** The inverse of {@link linesOfRelease}. */
export function releaseOfLines(lines: readonly Line[]): ReleaseFile {
  let release = ''
  const modules: Record<string, string> = {}
  const featureGates: Record<string, GateFile> = {}
  const featureGateDependencies: Record<string, string[]> = {}
  const priorities: Record<string, readonly [number, number]> = {}
  const storageVersions: Record<string, string> = {}
  const columns: Record<string, readonly (readonly string[])[]> = {}
  const admissionPlugins: string[] = []
  const admissionPluginsOn: string[] = []
  const enabledResources: string[] = []
  const flags: Record<string, FlagFile | null> = {}
  const readers: Readonly<Record<string, (name: string, value: string, below: readonly Line[]) => unknown>> = {
    release: (name) => (release = name),
    module: (name, version) => (modules[name] = version),
    gate: (name, component, below) => (featureGates[name] = { in: component, history: below.map(stageOfLine) }),
    dependency: (name, needed) => (featureGateDependencies[name] = [...(featureGateDependencies[name] ?? []), needed]),
    priority: (name, value) => (priorities[name] = value.split(' ').map(Number) as unknown as [number, number]),
    stored: (name, version) => (storageVersions[name] = version),
    columns: (kind, _, below) => (columns[kind] = below.map(({ text }) => JSON.parse(text) as string[])),
    plugin: (name) => admissionPlugins.push(name),
    pluginOn: (name) => admissionPluginsOn.push(name),
    enabledResource: (name) => enabledResources.push(name),
    flag: (name, value) => (flags[name] = JSON.parse(value) as FlagFile | null),
  }
  for (const { text, lines: below } of lines) {
    const [word, rest] = cut(text)
    const read = readers[word]
    if (read === undefined) throw new Error(`unknown line ${text}`)
    read(...cut(rest), below)
  }
  return {
    ...{ release, modules, featureGates, featureGateDependencies, priorities, storageVersions, columns },
    ...{ admissionPlugins, admissionPluginsOn },
    ...(enabledResources.length === 0 ? {} : { enabledResources }),
    flags,
  }
}
