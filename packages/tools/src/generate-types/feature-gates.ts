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
}

export function featureGatesModule(model: Model): string {
  const minors = minorsOf(model).filter((minor) => minor >= servedMinor)
  const newest = minors.at(-1)!
  const gates = new Map<string, GateHistory>()
  for (const minor of minors) {
    for (const [name, { history }] of Object.entries(viewAt(model, minor).release.featureGates)) {
      const known = gates.get(name) ?? { stages: minor === servedMinor ? history.map(datedStage) : [], last: minor }
      gates.set(name, known)
      known.last = minor
      // Later releases state other histories of some gates, so each one tells only its own stage.
      const current = stageText(history.findLast(({ since = '0.0' }) => minorOf(since) <= minor) ?? history[0]!)
      if (known.stages.at(-1)?.replace(/^[\d.]+/, '') !== current) known.stages.push(`1.${minor}${current}`)
    }
  }
  const lines = [...gates]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { stages, last }]) => `${[name, ...stages, ...(last < newest ? [`-1.${last + 1}`] : [])].join(' ')}\n`)
  return `${header}
/**
 * The feature gates of kube-apiserver 1.${servedMinor} to 1.${newest}, one per line: the name, then per stage the release, a (alpha), b (beta), s (stable) or d (deprecated),
 * the default (+ or -), and ! when the default is locked; after a minus the first release without the gate. Gates of clients state no release.
 */
export const featureGateFacts: string = \`
${lines.join('')}\`
`
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
