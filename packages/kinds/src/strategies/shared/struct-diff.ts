/** Differences of structs in messages; the types and the comparison are loaded for the first message that needs one. */

import type { Work } from '@krmkit/base/work'
import type { Features } from '@krmkit/meta'
import type { Change } from '../../struct-diff/index.ts'
import { lazyModule } from './lazy-module.ts'

/** Maximum length of a difference, in characters. Differs: kube-apiserver prints all of it. */
const maxDiffLength = 64 * 1024

const differ = /* @__PURE__ */ lazyModule('differences of structs', () => import('../../struct-diff/index.ts'))

/** Loads what {@link structDiff} needs; `undefined` once it is loaded. */
export function loadStructDiff(): Promise<void> | undefined {
  return differ.load()
}

/**
 * The difference of two values as kube-apiserver prints it, with a line break at its end. Empty for validation that runs at once before
 * {@link loadStructDiff}.
 *
 * @param type Go type of the values, such as `core.PodSpec`
 */
export function* structDiff(type: string, change: Change, features: Features): Work<string> {
  const loading = loadStructDiff()
  if (loading !== undefined) yield loading
  if (loadStructDiff() !== undefined) return ''
  const text = yield* differ.loaded().structDiff(type, change, features)
  return text.length > maxDiffLength ? `${text.slice(0, maxDiffLength)}...\n` : text
}
