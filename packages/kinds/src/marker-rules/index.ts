/** Validation that a release states as markers of its types, and that kube-apiserver enforces since 1.36. */
import type { Features } from '@krmkit/meta'
import type { MarkerRules } from '../marker-rule-types.ts'
import { type LazyModule, lazyModule } from '../strategies/shared/lazy-module.ts'
import type { GroupRules, RuledKind } from './group-rules.ts'
import { firstEnforcing, ruleTexts } from './texts/index.generated.ts'

/** The rules of a release; loads those of a group, and the engine, when a kind of it is first validated. */
export interface ReleaseRules {
  /** The rules of a kind; `undefined` for groups without rules. */
  of(kind: RuledKind): MarkerRules | undefined
}

/** The rules of the release of `features`; `undefined` for releases that enforce none. */
export function rulesOfRelease(features: Features): ReleaseRules | undefined {
  if (!features.release.atLeast(firstEnforcing)) return undefined
  const groups = new Map<string, LazyModule<GroupRules>>()
  const groupOf = (folder: string) => {
    const known = groups.get(folder) ?? groupRules(folder, features)
    groups.set(folder, known)
    return known
  }
  return {
    of: (kind) => (Object.hasOwn(ruleTexts, kind.folder) ? kindRules(kind, groupOf(kind.folder)) : undefined),
  }
}

function groupRules(folder: string, features: Features): LazyModule<GroupRules> {
  return lazyModule(`the rules of ${folder}`, async () => {
    const { loadGroupRules } = await import('./group-rules.ts')
    return loadGroupRules(folder, features)
  })
}

function kindRules(kind: RuledKind, group: LazyModule<GroupRules>): MarkerRules {
  return {
    load: () => group.load(),
    complete: (errors, write) => group.loaded().complete(kind, errors, write),
  }
}
