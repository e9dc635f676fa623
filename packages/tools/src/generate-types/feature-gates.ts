/** The feature gates of the served release, for packages/meta/src/feature-gates. */
import type { GateStage, ReleaseFile } from '../release-facts/facts.ts'
import { header } from './facts.ts'

const letters: Readonly<Record<string, string>> = { Alpha: 'a', Beta: 'b', GA: 's', Deprecated: 'd' }

export function featureGatesModule({ modules, featureGates }: ReleaseFile): string {
  const lines = Object.entries(featureGates)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { history }]) => `${[name, ...history.map(stageText)].join(' ')}\n`)
  return `${header}
/**
 * The feature gates of kube-apiserver ${modules['k8s.io/kubernetes']}, one per line: the name, then per stage the release, a (alpha), b (beta), s (stable) or d (deprecated), the
 * default (+ or -), and ! when the default is locked. Gates of clients state no release.
 */
export const featureGateFacts: string = \`
${lines.join('')}\`
`
}

function stageText({ since = '0.0', stage, default: isOn, locked }: GateStage): string {
  const letter = letters[stage]
  if (letter === undefined) throw new Error(`unknown stage ${stage}`)
  return `${since}${letter}${isOn ? '+' : '-'}${locked ? '!' : ''}`
}
