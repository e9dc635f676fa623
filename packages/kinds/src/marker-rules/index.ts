/** Validation that a release states as markers of its types, and that kube-apiserver enforces since 1.36. */
import type { Work } from '@krmkit/base/work'
import type { Features, FieldError } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { lazyModule } from '../strategies/shared/lazy-module.ts'
import { withProblems } from './covered.ts'
import { problemsOf, type Rules } from './engine.ts'
import type { MarkerRules, ValidatedWrite } from './interfaces.ts'
import { foldersOf, readRules, type TypeRule } from './notation.ts'
import { firstEnforcing, ruleTexts } from './texts/index.generated.ts'

/** A version of a kind, by the folder of its facts. */
export interface RuledKind {
  readonly folder: string
  readonly version: string
  readonly kind: string
}

/** The rules of a release; loads those of a group when a kind of it is first validated. */
export interface ReleaseRules {
  /** The rules of a kind; `undefined` for groups without rules. */
  of(kind: RuledKind): MarkerRules | undefined
}

/** The rules of the release of `features`; `undefined` for releases that enforce none. */
export function rulesOfRelease(features: Features): ReleaseRules | undefined {
  const { release } = features
  if (!release.atLeast(firstEnforcing)) return undefined
  const minor = Number(/^v?1\.(\d+)/.exec(release.version)?.[1])
  const loads = new Map<string, ReturnType<typeof groupRules>>()
  const loadOf = (folder: string) => {
    const known = loads.get(folder) ?? groupRules(folder, minor)
    loads.set(folder, known)
    return known
  }
  return {
    of: (kind) => (Object.hasOwn(ruleTexts, kind.folder) ? kindRules(kind, features, loadOf(kind.folder)) : undefined),
  }
}

/** The rules of a group and of those that it refers to. */
function groupRules(folder: string, minor: number) {
  return lazyModule<Rules>(`the rules of ${folder}`, async () => {
    const rules = new Map<string, TypeRule>()
    const read = new Set<string>()
    const open = [folder]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (read.has(next) || !Object.hasOwn(ruleTexts, next)) continue
      read.add(next)
      const { rules: text } = await ruleTexts[next]!()
      const own = readRules(next, text, minor)
      for (const [name, rule] of own) rules.set(name, rule)
      open.push(...foldersOf(own))
    }
    return rules
  })
}

function kindRules(kind: RuledKind, features: Features, group: ReturnType<typeof groupRules>): MarkerRules {
  const type = `${kind.folder}/${kind.version}.${kind.kind}`
  return {
    load: () => group.load(),
    *complete(errors: readonly FieldError[], write: ValidatedWrite): Work<readonly FieldError[]> {
      const rules = group.loaded()
      const requests = rules.get(type)?.requests
      if (requests?.includes(`/${write.subresource ?? ''}`) !== true) return errors
      const object = yield* write.inVersion(write.object)
      const old = write.old === undefined ? undefined : yield* write.inVersion(write.old)
      const problems = yield* problemsOf(type, object, old, {
        rules,
        isUpdate: old !== undefined,
        reportsBeta: gateEnabled('DeclarativeValidationBeta', features),
        enabled: (option) => optionEnabled(option, features, old),
      })
      return problems.length === 0 ? errors : withProblems(errors, problems)
    },
  }
}

/** Options are feature gates. An autoscaler that has zero replicas may keep them. */
function optionEnabled(option: string, features: Features, old: unknown): boolean {
  if (gateEnabled(option, features)) return true
  if (option !== 'HPAScaleToZero') return false
  return (old as { readonly spec?: { readonly minReplicas?: number } } | undefined)?.spec?.minReplicas === 0
}
