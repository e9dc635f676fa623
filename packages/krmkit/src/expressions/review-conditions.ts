import type { MatchConditionCompiler } from '@krmkit/authorization'
import { evaluator, type Language, language, structures } from './evaluation.ts'

/** Conditions in the Common Expression Language over `request`, the spec of a SubjectAccessReview of version v1. */
export async function reviewConditions(): Promise<MatchConditionCompiler> {
  const known = await language()
  const { engine } = known
  const scope = known.environment.with([['request', requestType(known)]])
  return {
    compile(text) {
      const compiled = engine.compileExpression(scope, text, { kinds: ['bool'] })
      if ('problem' in compiled) return { problem: compiled.problem }
      const evaluate = evaluator(known, { program: compiled.program, variable: 'request' })
      return {
        evaluate(review) {
          const result = evaluate(review)
          if ('value' in result) return result.value === true
          return { error: `cel evaluation error: expression '${text}' resulted in error: ${result.error}` }
        },
      }
    },
  }
}

function requestType(known: Language) {
  const { text, texts, textsByName, struct } = structures(known)
  const requirement = struct('SelectorRequirement', { key: text, operator: text, values: texts })
  const selector = (name: string) => struct(name, { rawSelector: text, requirements: known.engine.listOf(requirement) })
  const resource = struct('ResourceAttributes', {
    namespace: text,
    verb: text,
    group: text,
    version: text,
    resource: text,
    subresource: text,
    name: text,
    fieldSelector: selector('FieldSelectorAttributes'),
    labelSelector: selector('LabelSelectorAttributes'),
  })
  return struct('SubjectAccessReviewSpec', {
    resourceAttributes: resource,
    nonResourceAttributes: struct('NonResourceAttributes', { path: text, verb: text }),
    user: text,
    groups: texts,
    extra: textsByName,
    uid: text,
  })
}
