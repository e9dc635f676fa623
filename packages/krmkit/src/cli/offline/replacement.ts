import type { KindLifecycle } from '@krmkit/kinds'
import { kindStateAt } from '@krmkit/versioning'

/**
 * Returns the kind that replaces another one at a release. Announcements name the successor of their time, which may itself be removed
 * since: its own successor is then returned. Undefined when none of them is in the release.
 */
export function replacementAt(
  lifecycles: readonly KindLifecycle[],
  { replaced, release }: { readonly replaced: KindLifecycle; readonly release: string },
): KindLifecycle | undefined {
  const seen = new Set<KindLifecycle>()
  for (let at = successorOf(lifecycles, replaced); at !== undefined && !seen.has(at); at = successorOf(lifecycles, at)) {
    const { phase } = kindStateAt(at, release)
    if (phase === 'current' || phase === 'deprecated') return at
    seen.add(at)
  }
  return undefined
}

function successorOf(lifecycles: readonly KindLifecycle[], { replacement }: KindLifecycle): KindLifecycle | undefined {
  const [group, version, kind = ''] = replacement?.split(',') ?? []
  // Some announcements name the list of the kind.
  return lifecycles.find((each) => each.group === group && each.version === version && (each.kind === kind || each.list === kind))
}
