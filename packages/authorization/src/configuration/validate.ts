import { isAbsolute } from 'node:path'
import { type FieldError, field, formatDuration, Path } from '@krmkit/meta'
import { validateDns1123Subdomain } from '@krmkit/meta/names'
import type {
  AuthorizationConfiguration,
  AuthorizationWebhook,
  CompiledMatchCondition,
  MatchConditionCompiler,
} from './interfaces.ts'

export interface AuthorizationValidationOptions {
  /** Supported authorizer types, in any order. */
  readonly types: readonly string[]
  /** Compiles match conditions. */
  readonly conditions: MatchConditionCompiler
  /** Validates a kubeconfig path: returns the problem, or undefined. Default: accepts every path. */
  readonly fileProblem?: (path: string) => string | undefined
}

const maxTimeoutMs = 30_000
const maxMatchConditions = 64

/**
 * Validates a configuration.
 *
 * @returns the errors in the wording of kube-apiserver; empty when the configuration is valid.
 * @example
 * ```ts
 * import { validateAuthorizationConfiguration } from '@krmkit/authorization/configuration'
 *
 * const conditions = { compile: () => ({ problem: 'expressions are not supported' }) }
 * const configuration = { authorizers: [{ type: 'rbac', name: 'rbac' }] }
 * const errors = validateAuthorizationConfiguration(configuration, { types: ['RBAC', 'Node'], conditions })
 * errors.map(({ field, message }) => `${field}: ${message}`)
 * // ['authorizers[0].type: Unsupported value: "rbac": supported values: "Node", "RBAC"']
 * ```
 */
export function validateAuthorizationConfiguration(
  { authorizers }: AuthorizationConfiguration,
  rules: AuthorizationValidationOptions,
): FieldError[] {
  const root = Path.of('authorizers')
  const errors: FieldError[] = []
  if (authorizers.length === 0) errors.push(field.required(root, 'at least one authorization mode must be defined'))
  const types = new Set<string>()
  const names = new Set<string>()
  for (const [i, { type, name, webhook }] of authorizers.entries()) {
    const path = root.index(i)
    const invalidType = typeError(type, path.child('type'), { rules, seen: types })
    if (invalidType !== undefined) {
      errors.push(invalidType)
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
 * Validates the rules of a running server: singleton authorizers are named after their type, and required types are present.
 *
 * @param options.required types: those that were configured at startup
 * @example
 * ```ts
 * import { validateAuthorizerNames } from '@krmkit/authorization/configuration'
 *
 * validateAuthorizerNames({ authorizers: [{ type: 'RBAC', name: 'roles' }] })
 * // ['expected name rbac for authorizer RBAC instead of roles']
 * ```
 */
export function validateAuthorizerNames(
  { authorizers }: AuthorizationConfiguration,
  { required = [] }: { readonly required?: readonly string[] } = {},
): string[] {
  const problems: string[] = []
  const singletons = authorizers.filter(({ type }) => type !== 'Webhook')
  for (const { type, name } of singletons) {
    const expected = type.toLowerCase()
    if (name !== expected) problems.push(`expected name ${expected} for authorizer ${type} instead of ${name}`)
  }
  const missing = required.filter((type) => !singletons.some((one) => one.type === type))
  if (missing.length > 0) problems.push(`missing required types: [${[...missing].sort().join(' ')}]`)
  return problems
}

/** Compiles the match conditions of a validated configuration. */
export function compileMatchConditions(
  expressions: readonly string[],
  compiler: MatchConditionCompiler,
): readonly CompiledMatchCondition[] {
  return expressions.flatMap((expression) => {
    const compiled = compiler.compile(expression)
    return 'problem' in compiled ? [] : [compiled]
  })
}

function typeError(
  type: string,
  path: Path,
  { rules, seen }: { readonly rules: AuthorizationValidationOptions; readonly seen: ReadonlySet<string> },
): FieldError | undefined {
  if (type === '') return field.required(path)
  if (!rules.types.includes(type)) return field.notSupported(path, type, [...rules.types].sort())
  return seen.has(type) && type !== 'Webhook' ? field.duplicate(path, type) : undefined
}

function nameErrors(name: string, path: Path, seen: ReadonlySet<string>): FieldError[] {
  if (name === '') return [field.required(path)]
  if (seen.has(name)) return [field.duplicate(path, name)]
  const problems = validateDns1123Subdomain(name)
  return problems.length === 0 ? [] : [field.invalid(path, name, `authorizer name is invalid: ${problems.join(', ')}`)]
}

function webhookErrors(webhook: AuthorizationWebhook, path: Path, rules: AuthorizationValidationOptions): FieldError[] {
  const { timeoutMs, authorizedMs, unauthorizedMs, matchConditions, failurePolicy } = webhook
  const errors: FieldError[] = []
  if (timeoutMs === 0) errors.push(field.required(path.child('timeout')))
  else if (timeoutMs > maxTimeoutMs || timeoutMs < 0)
    errors.push(field.invalid(path.child('timeout'), formatMs(timeoutMs), 'must be > 0s and <= 30s'))
  if (authorizedMs < 0) errors.push(field.invalid(path.child('authorizedTTL'), formatMs(authorizedMs), 'must be > 0s'))
  if (unauthorizedMs < 0) errors.push(field.invalid(path.child('unauthorizedTTL'), formatMs(unauthorizedMs), 'must be > 0s'))
  errors.push(...choiceErrors(webhook.subjectAccessReviewVersion, path.child('subjectAccessReviewVersion'), ['v1', 'v1beta1']))
  const reviewVersion = webhook.matchConditionSubjectAccessReviewVersion
  const reviewVersionPath = path.child('matchConditionSubjectAccessReviewVersion')
  if (reviewVersion !== '') errors.push(...choiceErrors(reviewVersion, reviewVersionPath, ['v1']))
  else if (matchConditions.length > 0)
    errors.push(field.required(reviewVersionPath, 'required if match conditions are specified'))
  errors.push(...choiceErrors(failurePolicy, path.child('failurePolicy'), ['NoOpinion', 'Deny']))
  errors.push(...connectionErrors(webhook, path.child('connectionInfo'), rules))
  errors.push(...conditionErrors(matchConditions, path.child('matchConditions'), rules.conditions))
  return errors
}

function choiceErrors(value: string, path: Path, choices: readonly string[]): FieldError[] {
  if (value === '') return [field.required(path)]
  return choices.includes(value) ? [] : [field.notSupported(path, value, choices)]
}

function connectionErrors({ connection }: AuthorizationWebhook, path: Path, rules: AuthorizationValidationOptions): FieldError[] {
  const { type, kubeConfigFile: file } = connection
  const fieldPath = path.child('kubeConfigFile')
  if (type === 'InClusterConfig')
    return file === undefined ? [] : [field.invalid(fieldPath, file, 'can only be set when type=KubeConfigFile')]
  if (type !== 'KubeConfigFile') return choiceErrors(type, path.child('type'), ['InClusterConfig', 'KubeConfigFile'])
  if (file === undefined || file === '') return [field.required(fieldPath)]
  if (!isAbsolute(file)) return [field.invalid(fieldPath, file, 'must be an absolute path')]
  const problem = rules.fileProblem?.(file)
  return problem === undefined ? [] : [field.invalid(fieldPath, file, problem)]
}

function conditionErrors(expressions: readonly string[], path: Path, compiler: MatchConditionCompiler): FieldError[] {
  if (expressions.length > maxMatchConditions) return [field.tooMany(path, expressions.length, maxMatchConditions)]
  const seen = new Set<string>()
  return expressions.flatMap((expression, i) => {
    const fieldPath = path.index(i).child('expression')
    if (expression.trim() === '') return [field.required(fieldPath)]
    if (seen.has(expression)) return [field.duplicate(fieldPath, expression)]
    seen.add(expression)
    const compiled = compiler.compile(expression)
    return 'problem' in compiled ? [field.invalid(fieldPath, expression, compiled.problem)] : []
  })
}

function formatMs(ms: number): string {
  return formatDuration(BigInt(Math.round(ms * 1e6)))
}
