/** The rules of a group and of the groups that it refers to. */
import type { Work } from '@krmkit/base/work'
import type { Features, FieldError } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { ValidatedWrite } from '../marker-rule-types.ts'
import { withProblems } from './covered.ts'
import { problemsOf, type Rules } from './engine.ts'
import { foldersOf, readRules, type TypeRule } from './notation.ts'
import { ruleTexts } from './texts/index.generated.ts'

/** A version of a kind, by the folder of its facts. */
export interface RuledKind {
  readonly folder: string
  readonly version: string
  readonly kind: string
}

export interface GroupRules {
  /** @see MarkerRules.complete */
  complete(kind: RuledKind, errors: readonly FieldError[], write: ValidatedWrite): Work<readonly FieldError[]>
}

export async function loadGroupRules(folder: string, features: Features): Promise<GroupRules> {
  const minor = Number(/^v?1\.(\d+)/.exec(features.release.version)?.[1])
  const rules = await loadRules(folder, minor)
  return { complete: (kind, errors, write) => completeErrors(errors, write, { kind, rules, features }) }
}

async function loadRules(folder: string, minor: number): Promise<Rules> {
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
}

interface Completion {
  readonly kind: RuledKind
  readonly rules: Rules
  readonly features: Features
}

function* completeErrors(
  errors: readonly FieldError[],
  write: ValidatedWrite,
  { kind, rules, features }: Completion,
): Work<readonly FieldError[]> {
  const type = `${kind.folder}/${kind.version}.${kind.kind}`
  if (rules.get(type)?.requests?.includes(`/${write.subresource ?? ''}`) !== true) return errors
  const object = yield* write.inVersion(write.object)
  const old = write.old === undefined ? undefined : yield* write.inVersion(write.old)
  const problems = yield* problemsOf(type, object, old, {
    rules,
    isUpdate: old !== undefined,
    reportsBeta: gateEnabled('DeclarativeValidationBeta', features),
    enabled: (option) => optionEnabled(option, features, old),
  })
  return problems.length === 0 ? errors : withProblems(errors, problems)
}

/** Options are feature gates. An autoscaler that has zero replicas may keep them. */
function optionEnabled(option: string, features: Features, old: unknown): boolean {
  if (gateEnabled(option, features)) return true
  if (option !== 'HPAScaleToZero') return false
  return (old as { readonly spec?: { readonly minReplicas?: number } } | undefined)?.spec?.minReplicas === 0
}
