import { isAbsolute } from 'node:path'
import { type FieldError, field, formatDuration, Path, validateDns1123Subdomain } from '@krmkit/meta'
import type { AuthorizationConfiguration, AuthorizationWebhook, ConditionCompiler, ReviewCondition } from './interfaces.ts'

export interface AuthorizationRules {
  /** Types that there are, in any order. */
  readonly types: readonly string[]
  /** Turns conditions into something that can be evaluated. */
  readonly conditions: ConditionCompiler
  /** Why a file cannot be used; undefined when it can. Default: all can. */
  readonly fileProblem?: (path: string) => string | undefined
}

const longestTimeoutMs = 30_000
const mostConditions = 64

/** What is wrong with a configuration; nothing when it can be used. Messages are those of the stock server. */
export function validateAuthorizationConfiguration(
  { authorizers }: AuthorizationConfiguration,
  rules: AuthorizationRules,
): FieldError[] {
  const root = Path.of('authorizers')
  const errors: FieldError[] = []
  if (authorizers.length === 0) errors.push(field.required(root, 'at least one authorization mode must be defined'))
  const types = new Set<string>()
  const names = new Set<string>()
  for (const [i, { type, name, webhook }] of authorizers.entries()) {
    const path = root.index(i)
    const wrongType = typeError(type, path.child('type'), { rules, seen: types })
    if (wrongType !== undefined) {
      errors.push(wrongType)
      continue
    }
    types.add(type)
    errors.push(...nameErrors(name, path.child('name'), names))
    names.add(name)
    if (type !== 'Webhook') {
      if (webhook !== undefined)
        errors.push(field.invalid(path.child('webhook'), 'non-null', 'may only be specified when type=Webhook'))
    } else if (webhook === undefined) errors.push(field.required(path.child('webhook'), 'required when type=Webhook'))
    else errors.push(...webhookErrors(webhook, path, rules))
  }
  return errors
}

/**
 * What a server asks beyond: authorizers that there can be but one of are named after their type, and those that there were
 * at the start must stay.
 */
export function namingProblems(
  { authorizers }: AuthorizationConfiguration,
  { required = [] }: { readonly required?: readonly string[] } = {},
): string[] {
  const problems: string[] = []
  const others = authorizers.filter(({ type }) => type !== 'Webhook')
  for (const { type, name } of others) {
    const expected = type.toLowerCase()
    if (name !== expected) problems.push(`expected name ${expected} for authorizer ${type} instead of ${name}`)
  }
  const missing = required.filter((type) => !others.some((one) => one.type === type))
  if (missing.length > 0) problems.push(`missing required types: [${[...missing].sort().join(' ')}]`)
  return problems
}

/** Conditions of a configuration that has been found right. */
export function compileConditions(expressions: readonly string[], compiler: ConditionCompiler): readonly ReviewCondition[] {
  return expressions.flatMap((expression) => {
    const compiled = compiler.compile(expression)
    return 'problem' in compiled ? [] : [compiled]
  })
}

function typeError(
  type: string,
  path: Path,
  { rules, seen }: { readonly rules: AuthorizationRules; readonly seen: ReadonlySet<string> },
): FieldError | undefined {
  if (type === '') return field.required(path)
  if (!rules.types.includes(type)) return field.notSupported(path, type, [...rules.types].sort())
  return seen.has(type) && type !== 'Webhook' ? field.duplicate(path, type) : undefined
}

function nameErrors(name: string, path: Path, seen: ReadonlySet<string>): FieldError[] {
  if (name === '') return [field.required(path)]
  if (seen.has(name)) return [field.duplicate(path, name)]
  const wrong = validateDns1123Subdomain(name)
  return wrong.length === 0 ? [] : [field.invalid(path, name, `authorizer name is invalid: ${wrong.join(', ')}`)]
}

function webhookErrors(webhook: AuthorizationWebhook, path: Path, rules: AuthorizationRules): FieldError[] {
  const { timeoutMs, authorizedMs, unauthorizedMs, matchConditions, failurePolicy } = webhook
  const errors: FieldError[] = []
  if (timeoutMs === 0) errors.push(field.required(path.child('timeout')))
  else if (timeoutMs > longestTimeoutMs || timeoutMs < 0)
    errors.push(field.invalid(path.child('timeout'), text(timeoutMs), 'must be > 0s and <= 30s'))
  if (authorizedMs < 0) errors.push(field.invalid(path.child('authorizedTTL'), text(authorizedMs), 'must be > 0s'))
  if (unauthorizedMs < 0) errors.push(field.invalid(path.child('unauthorizedTTL'), text(unauthorizedMs), 'must be > 0s'))
  errors.push(...choiceErrors(webhook.subjectAccessReviewVersion, path.child('subjectAccessReviewVersion'), ['v1', 'v1beta1']))
  const seen = webhook.matchConditionSubjectAccessReviewVersion
  const seenPath = path.child('matchConditionSubjectAccessReviewVersion')
  if (seen !== '') errors.push(...choiceErrors(seen, seenPath, ['v1']))
  else if (matchConditions.length > 0) errors.push(field.required(seenPath, 'required if match conditions are specified'))
  errors.push(...choiceErrors(failurePolicy, path.child('failurePolicy'), ['NoOpinion', 'Deny']))
  errors.push(...connectionErrors(webhook, path.child('connectionInfo'), rules))
  errors.push(...conditionErrors(matchConditions, path.child('matchConditions'), rules.conditions))
  return errors
}

function choiceErrors(value: string, path: Path, choices: readonly string[]): FieldError[] {
  if (value === '') return [field.required(path)]
  return choices.includes(value) ? [] : [field.notSupported(path, value, choices)]
}

function connectionErrors({ connection }: AuthorizationWebhook, path: Path, rules: AuthorizationRules): FieldError[] {
  const { type, kubeConfigFile: file } = connection
  const place = path.child('kubeConfigFile')
  if (type === 'InClusterConfig')
    return file === undefined ? [] : [field.invalid(place, file, 'can only be set when type=KubeConfigFile')]
  if (type !== 'KubeConfigFile') return choiceErrors(type, path.child('type'), ['InClusterConfig', 'KubeConfigFile'])
  if (file === undefined || file === '') return [field.required(place)]
  if (!isAbsolute(file)) return [field.invalid(place, file, 'must be an absolute path')]
  const problem = rules.fileProblem?.(file)
  return problem === undefined ? [] : [field.invalid(place, file, problem)]
}

function conditionErrors(expressions: readonly string[], path: Path, compiler: ConditionCompiler): FieldError[] {
  if (expressions.length > mostConditions) return [field.tooMany(path, expressions.length, mostConditions)]
  const seen = new Set<string>()
  return expressions.flatMap((expression, i) => {
    const place = path.index(i).child('expression')
    if (expression.trim() === '') return [field.required(place)]
    if (seen.has(expression)) return [field.duplicate(place, expression)]
    seen.add(expression)
    const compiled = compiler.compile(expression)
    return 'problem' in compiled ? [field.invalid(place, expression, compiled.problem)] : []
  })
}

function text(ms: number): string {
  return formatDuration(BigInt(Math.round(ms * 1e6)))
}
