/** Warnings about paths of one volume that overlap. */
import { goQuote, trimRight } from '@krmkit/meta/go-text'
import type { Volume, VolumeProjection } from '../../types/core-v1.generated.ts'
import { isSet, type R } from './values.ts'

interface SourcePath {
  readonly path: string
  /** In a projected volume. */
  readonly source?: Source
}

/** What paths belong to. Its name is quoted only where it is shown. */
interface Source {
  readonly kind: string
  readonly name?: string
}

/**
 * Work on the paths of a pod. A comparison costs one unit, and one for every 16 characters that are compared or 4 that are printed. Differs:
 * all pairs on kube-apiserver.
 */
const maxWork = 100_000
const comparedPerUnit = 16
const printedPerUnit = 4

interface Budget {
  left: number
}

/** Warnings about volumes in which one path is another one, or lies inside of it, and about projections without a source. */
export function warnOverlaps(texts: string[], volumes: readonly R<Volume>[] | undefined): void {
  const budget: Budget = { left: maxWork }
  for (const { name, configMap, secret, downwardAPI, projected } of volumes ?? []) {
    const take = (volume: Source, paths: readonly SourcePath[], taken: SourcePath[] = []) =>
      warnPaths(texts, paths, { name, volume, taken, budget })
    take({ kind: 'ConfigMap', name: configMap?.name ?? '' }, pathsOf(configMap?.items))
    take({ kind: 'Secret', name: secret?.secretName ?? '' }, pathsOf(secret?.items))
    take({ kind: 'DownwardAPI' }, pathsOf(downwardAPI?.items))
    const taken: SourcePath[] = []
    let last: readonly SourcePath[] = []
    let repetitions = 0
    for (const projection of projected?.sources ?? []) {
      if (!Object.values(projection).some(isSet)) {
        texts.push(`volume ${goQuote(name)} (Projected) has no sources provided`)
        continue
      }
      // As on kube-apiserver, a source without items stands for the one before it. Only its first repetition finds new pairs.
      const paths = projectedPaths(projection)
      repetitions = paths === undefined ? repetitions + 1 : 0
      last = paths ?? last
      if (repetitions < 2) take({ kind: 'Projected' }, last, taken)
    }
  }
}

interface TakenPaths {
  /** Of the volume. */
  readonly name: string
  readonly volume: Source
  /** The paths before; `warnPaths` adds its own. */
  readonly taken: SourcePath[]
  readonly budget: Budget
}

function warnPaths(texts: string[], paths: readonly SourcePath[], { name, volume, taken, budget }: TakenPaths): void {
  for (const path of paths) {
    if (path.path === '') continue
    for (const other of taken) {
      if (budget.left <= 0) return
      budget.left -= 1 + Math.min(path.path.length, other.path.length) / comparedPerUnit
      if (!contains(path.path, other.path) && !contains(other.path, path.path)) continue
      const text = `volume ${goQuote(name)} (${printSource(volume)}): overlapping paths: ${print(path)} with ${print(other)}`
      budget.left -= text.length / printedPerUnit
      texts.push(text)
    }
    taken.push(path)
  }
}

function projectedPaths(projection: R<VolumeProjection>): readonly SourcePath[] | undefined {
  const { configMap, secret, downwardAPI, serviceAccountToken: token, clusterTrustBundle: bundle } = projection
  if (isSet(configMap?.items)) return pathsOf(configMap.items, { kind: 'ConfigMap', name: configMap.name ?? '' })
  if (isSet(secret?.items)) return pathsOf(secret.items, { kind: 'Secret', name: secret.name ?? '' })
  if (isSet(downwardAPI?.items)) return pathsOf(downwardAPI.items, { kind: 'DownwardAPI' })
  if (isSet(token)) return pathsOf([token], { kind: 'ServiceAccountToken' })
  if (isSet(bundle)) return pathsOf([bundle], { kind: 'ClusterTrustBundle', name: bundle.name ?? bundle.signerName ?? '' })
  return undefined
}

function pathsOf(items: readonly { readonly path?: string }[] | undefined, source?: Source): readonly SourcePath[] {
  return (items ?? []).map(({ path = '' }) => ({ path: trimRight(path, '/'), ...(source !== undefined && { source }) }))
}

/** Whether a path is another one or lies inside of it. */
function contains(outer: string, inner: string): boolean {
  return inner.startsWith(outer) && (inner.length === outer.length || inner[outer.length] === '/')
}

function print({ path, source }: SourcePath): string {
  return source === undefined ? goQuote(path) : `${goQuote(path)} (${printSource(source)})`
}

function printSource({ kind, name }: Source): string {
  return name === undefined ? kind : `${kind} ${goQuote(name)}`
}
