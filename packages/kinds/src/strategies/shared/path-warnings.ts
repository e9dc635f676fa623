/** Warnings about paths of one volume that overlap. */
import { goQuote, trimRight } from '@krmkit/meta/go-text'
import type { Volume, VolumeProjection } from '../../types/core-v1.generated.ts'
import { isSet, type R } from './values.ts'

interface SourcePath {
  readonly path: string
  /** The source in a projected volume; empty in other volumes. */
  readonly source: string
}

/** Pairs of paths that are compared in a pod. Differs: all pairs on the stock server. */
const maxComparisons = 100_000

/** Warnings about volumes in which one path is another one, or lies inside of it, and about projections without a source. */
export function warnOverlaps(texts: string[], volumes: readonly R<Volume>[] | undefined): void {
  const budget = { left: maxComparisons }
  for (const { name, configMap, secret, downwardAPI, projected } of volumes ?? []) {
    const take = (kind: string, paths: readonly SourcePath[], taken: SourcePath[] = []) => {
      for (const path of paths) {
        for (const other of overlapping(path, taken, budget))
          texts.push(`volume ${goQuote(name)} (${kind}): overlapping paths: ${print(path)} with ${print(other)}`)
        taken.push(path)
      }
    }
    take(`ConfigMap ${goQuote(configMap?.name ?? '')}`, pathsOf(configMap?.items, ''))
    take(`Secret ${goQuote(secret?.secretName ?? '')}`, pathsOf(secret?.items, ''))
    take('DownwardAPI', pathsOf(downwardAPI?.items, ''))
    const taken: SourcePath[] = []
    let last: SourcePath[] = []
    for (const projection of projected?.sources ?? []) {
      if (Object.values(projection).some(isSet)) {
        // As on the stock server, a source without items stands for the one before it.
        last = projectedPaths(projection) ?? last
        take('Projected', last, taken)
      } else texts.push(`volume ${goQuote(name)} (Projected) has no sources provided`)
    }
  }
}

function projectedPaths(projection: R<VolumeProjection>): SourcePath[] | undefined {
  const { configMap, secret, downwardAPI, serviceAccountToken: token, clusterTrustBundle: bundle } = projection
  if (isSet(configMap?.items)) return pathsOf(configMap.items, `ConfigMap ${goQuote(configMap.name ?? '')}`)
  if (isSet(secret?.items)) return pathsOf(secret.items, `Secret ${goQuote(secret.name ?? '')}`)
  if (isSet(downwardAPI?.items)) return pathsOf(downwardAPI.items, 'DownwardAPI')
  if (isSet(token)) return pathsOf([token], 'ServiceAccountToken')
  if (isSet(bundle)) return pathsOf([bundle], `ClusterTrustBundle ${goQuote(bundle.name ?? bundle.signerName ?? '')}`)
  return undefined
}

function pathsOf(items: readonly { readonly path?: string }[] | undefined, source: string): SourcePath[] {
  return (items ?? []).map(({ path = '' }) => ({ path: trimRight(path, '/'), source }))
}

/** The paths that are equal to a path, inside of it or around it. */
function overlapping({ path }: SourcePath, others: readonly SourcePath[], budget: { left: number }): SourcePath[] {
  if (path === '' || budget.left < others.length) return []
  budget.left -= others.length
  return others.filter((other) => other.path !== '' && overlap(path, other.path))
}

function overlap(a: string, b: string): boolean {
  return `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`)
}

function print({ path, source }: SourcePath): string {
  return source === '' ? goQuote(path) : `${goQuote(path)} (${source})`
}
