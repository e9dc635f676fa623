/** The feature gates of the served release and later ones, for packages/meta/src/feature-gates. */
import type { GateStage } from '../release-facts/facts.ts'
import { type Model, minorsOf, viewAt } from '../release-facts/model.ts'
import { header } from './facts.ts'
import { servedMinor } from './served-release.ts'

const letters: Readonly<Record<string, string>> = { Alpha: 'a', Beta: 'b', GA: 's', Deprecated: 'd' }

/** A gate in all releases that have it. */
interface GateHistory {
  /** With the release of each stage. */
  readonly stages: string[]
  /** Minor number of the last release with the gate. */
  last: number
  /** By name of the gate that it depends on. */
  readonly dependencies: Map<string, DependencyHistory>
}

/** The minor numbers of the first and the last release with a dependency. */
interface DependencyHistory {
  readonly since: number
  last: number
}

/** Dependencies that the validation of options checks in releases whose gates state none. */
const earlierDependencies: readonly { gate: string; needed: string; since: number }[] = [
  { gate: 'AuthorizeNodeWithSelectors', needed: 'AuthorizeWithSelectors', since: 31 },
  { gate: 'PodCertificateRequest', needed: 'AuthorizeNodeWithSelectors', since: 34 },
]
const statedSince = 35

export function featureGatesModule(model: Model): string {
  const minors = minorsOf(model).filter((minor) => minor >= servedMinor)
  const newest = minors.at(-1)!
  const gates = new Map<string, GateHistory>()
  for (const minor of minors) {
    for (const [name, { history }] of Object.entries(viewAt(model, minor).release.featureGates)) {
      const known = gates.get(name) ?? {
        stages: minor === servedMinor ? history.map(datedStage) : [],
        last: minor,
        dependencies: new Map(),
      }
      gates.set(name, known)
      known.last = minor
      // Later releases state other histories of some gates, so each one tells only its own stage.
      const current = stageText(history.findLast(({ since = '0.0' }) => minorOf(since) <= minor) ?? history[0]!)
      if (known.stages.at(-1)?.replace(/^[\d.]+/, '') !== current) known.stages.push(`1.${minor}${current}`)
    }
  }
  for (const minor of minors) addDependencies(gates, { model, minor })
  const lines = [...gates]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { stages, last, dependencies }]) => {
      const end = last < newest ? [`-1.${last + 1}`] : []
      return `${[name, ...stages, ...end, ...dependencyTexts(dependencies, last)].join(' ')}\n`
    })
  return `${header}
/**
 * The feature gates of kube-apiserver 1.${servedMinor} to 1.${newest}, one per line: the name, then per stage the release, a (alpha), b (beta), s (stable) or d (deprecated),
 * the default (+ or -), and ! when the default is locked; after a minus the first release without the gate. Gates of clients state no release.
 * Then the gates that must be on when this one is: > and the name, @ and the first release with the dependency, a minus and the first one without it.
 */
export const featureGateFacts: string = \`
${lines.join('')}\`
`
}

function addDependencies(gates: ReadonlyMap<string, GateHistory>, { model, minor }: { model: Model; minor: number }): void {
  const stated = Object.entries(viewAt(model, minor).release.featureGateDependencies).flatMap(([gate, needed]) =>
    needed.filter((each) => each !== '').map((each) => ({ gate, needed: each, since: minor })),
  )
  const all = minor < statedSince ? earlierDependencies.filter(({ since }) => since <= minor) : stated
  for (const { gate, needed, since } of all) {
    const { dependencies } = gates.get(gate) ?? {}
    if (dependencies === undefined || !gates.has(needed)) throw new Error(`${gate} depends on ${needed}: unknown gate`)
    const known = dependencies.get(needed) ?? { since, last: minor }
    known.last = minor
    dependencies.set(needed, known)
  }
}

/** The dependencies of a gate; without their end where they last as long as the gate. */
function dependencyTexts(dependencies: ReadonlyMap<string, DependencyHistory>, lastOfGate: number): string[] {
  return [...dependencies]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { since, last }]) => `>${name}@1.${since}${last < lastOfGate ? `-1.${last + 1}` : ''}`)
}

function datedStage(stage: GateStage): string {
  return `${stage.since ?? '0.0'}${stageText(stage)}`
}

function stageText({ stage, default: isOn, locked }: GateStage): string {
  const letter = letters[stage]
  if (letter === undefined) throw new Error(`unknown stage ${stage}`)
  return `${letter}${isOn ? '+' : '-'}${locked ? '!' : ''}`
}

function minorOf(release: string): number {
  return Number(release.slice(release.indexOf('.') + 1))
}
