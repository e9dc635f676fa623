import type { MatchConditionCompiler } from '@krmkit/authorization/configuration'
import { type Cel, celTypes, createEvaluator, loadOperatorCel } from './cel.ts'

/**
 * Creates the CEL compiler of the match conditions of an AuthorizationConfiguration: expressions over `request`, the spec of a
 * SubjectAccessReview of version v1.
 *
 * @example
 * import { reviewConditions } from 'krmkit'
 * const conditions = await reviewConditions()
 * 'problem' in conditions.compile("request.user != 'system:anonymous'") // false
 * @see docs/operate/authorization.md
 */
export async function createConditionCompiler(): Promise<MatchConditionCompiler> {
  const known = await loadOperatorCel()
  const { engine } = known
  const scope = known.environment.with([['request', requestType(known)]])
  return {
    compile(text) {
      const compiled = engine.compileExpression(scope, text, { kinds: ['bool'] })
      if ('problem' in compiled) return { problem: compiled.problem }
      const { program } = compiled
      const evaluate = createEvaluator(known, {
        program,
        variable: 'request',
        read: (result) =>
          'value' in result
            ? result.value === true
            : { error: `cel evaluation error: expression '${text}' resulted in error: ${result.error}` },
      })
      return { evaluate }
    },
  }
}

function requestType(known: Cel) {
  const { text, texts, textsByName, struct } = celTypes(known)
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
