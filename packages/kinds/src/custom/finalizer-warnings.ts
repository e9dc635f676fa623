import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { compareCodePoints, goQuote } from '@krmkit/meta/go-text'
import { validateQualifiedNameFormat } from '@krmkit/meta/names'

/** Finalizers of the server, which have no domain. */
const ownFinalizers: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])

/** Returns warnings for the names of new finalizers that may collide with those of other writers. */
export function finalizerWarnings({ metadata }: DeepReadonly<ApiObject>, old: DeepReadonly<ApiObject> | undefined): string[] {
  const { finalizers } = metadata
  if (finalizers === undefined || finalizers.length === 0) return []
  const before = new Set(old?.metadata.finalizers)
  const added = [...new Set(finalizers)].filter((name) => !before.has(name)).sort(compareCodePoints)
  return added.flatMap((name) => problemsOf(name).map((problem) => `metadata.finalizers: ${goQuote(name)}: ${problem}`))
}

function problemsOf(name: string): string[] {
  const problems = validateQualifiedNameFormat(name)
  if (name.includes('/') || ownFinalizers.has(name)) return problems
  const path = name.includes('.') ? ' including a path (/)' : ''
  return [
    ...problems,
    `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
  ]
}
