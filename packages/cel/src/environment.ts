import { check, type Scope } from './check/checker.ts'
import { validateLiterals } from './check/validate-literals.ts'
import { estimateCost, type SizeOf } from './cost/cost-estimator.ts'
import type { Estimate } from './cost/estimate.ts'
import { conversions } from './functions/conversions.ts'
import { operators } from './functions/operators.ts'
import { times } from './functions/times.ts'
import { authorization, authorizationSelectors } from './libraries/authorization.ts'
import { namedFormats } from './libraries/formats.ts'
import type { Library } from './libraries/library.ts'
import { lists } from './libraries/lists.ts'
import { objectMessage, wellKnownMessage } from './libraries/messages.ts'
import { networks } from './libraries/networks.ts'
import { optionals } from './libraries/optionals.ts'
import { quantities } from './libraries/quantities.ts'
import { matching, regex } from './libraries/regex.ts'
import { semver } from './libraries/semver.ts'
import { sets } from './libraries/sets.ts'
import { formats, strings } from './libraries/strings.ts'
import { urls } from './libraries/urls.ts'
import { Program } from './plan/program.ts'
import type { PlanError } from './plan/step.ts'
import { childrenOf, type Expr } from './syntax/ast.ts'
import type { CompileBudget } from './syntax/compile-budget.ts'
import { type Macro, type MacroTable, standardMacros, twoVariableMacros } from './syntax/macros.ts'
import { parse } from './syntax/parser.ts'
import { formatProblems } from './syntax/source.ts'
import { declare, type FunctionDeclaration, overload } from './values/declarations.ts'
import * as t from './values/types.ts'
import { ErrorValue } from './values/values.ts'

/** Environments: the declarations available to expressions, and compilation. */

const language: Library = {
  name: 'language',
  functions: [...operators, ...conversions, ...times, matching],
  macros: standardMacros,
  types: [
    ['bool', t.boolType],
    ['int', t.intType],
    ['uint', t.uintType],
    ['double', t.doubleType],
    ['string', t.stringType],
    ['bytes', t.bytesType],
    ['null_type', t.nullType],
    ['list', t.listOf(t.dynType)],
    ['map', t.mapOf(t.dynType, t.dynType)],
    ['type', t.anyTypeType],
    ['google.protobuf.Timestamp', t.timestampType],
    ['google.protobuf.Duration', t.durationType],
  ],
}

const [k, v] = [t.param('K'), t.param('V')]
const entries = t.mapOf(k, v)
/** Placeholder of a function that comprehensions implement directly. */
const inlined = () => new ErrorValue('no such overload')

const twoVariableComprehensions: Library = {
  name: 'two variables',
  functions: [
    declare(
      'cel.@mapInsert',
      overload('@mapInsert_map_key_value', [entries, k, v], entries, inlined),
      overload('@mapInsert_map_map', [entries, entries], entries, inlined),
    ),
  ],
  macros: twoVariableMacros,
}

/** Libraries by the release of kube-apiserver that introduced them. */
const libraries: readonly (readonly [release: string, library: Library])[] = [
  ['1.23', language],
  ['1.23', urls],
  ['1.23', regex],
  ['1.23', lists],
  ['1.23', strings],
  ['1.27', authorization],
  ['1.28', optionals],
  ['1.28', quantities],
  ['1.29', formats],
  ['1.29', sets],
  ['1.30', networks],
  ['1.31', namedFormats],
  ['1.31', authorizationSelectors],
  ['1.32', twoVariableComprehensions],
  ['1.33', semver],
]

const keywordMembersSince = 1031

/** A checked expression. */
export interface CheckedExpression {
  readonly text: string
  readonly type: t.Type
  /** Whether the expression refers to a variable. */
  uses(name: string): boolean
  /** Whether the expression selects a member of a variable, as `name.member` or `name.?member`. */
  reads(name: string, member: string): boolean
  /** Worst-case cost, given the sizes of variables. */
  estimate(sizeOf: SizeOf): Estimate
  /** Creates the program, or returns the planning error. */
  program(): Program | PlanError
}

/** An expression that does not compile. */
export interface CompileFailure {
  /** All errors, formatted for display. */
  readonly problem: string
}

/**
 * The functions, types and variables available to expressions. Immutable.
 *
 * @see {@link Environment.ofRelease}
 */
export class Environment {
  readonly #scope: Scope
  readonly #macros: MacroTable

  private constructor(scope: Scope, macros: MacroTable) {
    this.#scope = scope
    this.#macros = macros
  }

  /**
   * Environment with all libraries of a release, such as `1.33`.
   *
   * @example
   * import { Environment } from '@krmkit/cel'
   * import { intType } from '@krmkit/cel/types'
   * const environment = Environment.ofRelease('1.33').with([['self', intType]])
   * const compiled = environment.compile('self < 3')
   * if ('problem' in compiled) throw new Error(compiled.problem)
   */
  static ofRelease(release: string, more: readonly Library[] = []): Environment {
    const chosen = libraries.filter(([since]) => releaseNumber(since) <= releaseNumber(release)).map(([, library]) => library)
    return Environment.of([...chosen, ...more], releaseNumber(release) >= keywordMembersSince)
  }

  /** @param keywordMembers whether members may be named like keywords without escaping. */
  static of(chosen: readonly Library[], keywordMembers = true): Environment {
    const functions = new Map<string, FunctionDeclaration>()
    for (const { functions: list } of chosen) {
      for (const { name, overloads } of list) {
        functions.set(name, { name, overloads: [...(functions.get(name)?.overloads ?? []), ...overloads] })
      }
    }
    const macros = new Map<string, Macro[1]>(chosen.flatMap((library) => library.macros ?? []))
    const types = new Map<string, t.Type>(chosen.flatMap((library) => library.types ?? []))
    return new Environment({ variables: new Map(), functions, types, messages: wellKnownMessage, keywordMembers }, macros)
  }

  get functions(): Iterable<FunctionDeclaration> {
    return this.#scope.functions.values()
  }

  /** The same environment with additional variables. */
  with(variables: Iterable<readonly [name: string, type: t.Type]>): Environment {
    const all = new Map([...this.#scope.variables, ...variables])
    return new Environment({ ...this.#scope, variables: all }, this.#macros)
  }

  /** The same environment with another library, in which expressions can create objects of the types that `objects` resolves. */
  withMessages(objects: (name: string) => t.ObjectType | undefined, library: Library): Environment {
    const functions = new Map([...this.#scope.functions, ...library.functions.map((each) => [each.name, each] as const)])
    const messages = (name: string) => {
      const type = objects(name)
      return type === undefined ? wellKnownMessage(name) : objectMessage(type)
    }
    return new Environment({ ...this.#scope, messages, functions }, this.#macros)
  }

  /** The same environment with another library. */
  withLibrary({ functions: list, macros = [], types = [] }: Library): Environment {
    const functions = new Map(this.#scope.functions)
    for (const { name, overloads } of list) {
      functions.set(name, { name, overloads: [...(functions.get(name)?.overloads ?? []), ...overloads] })
    }
    const scope = { ...this.#scope, functions, types: new Map([...this.#scope.types, ...types]) }
    return new Environment(scope, new Map([...this.#macros, ...macros]))
  }

  /** @param budget node budget shared with other expressions of the same object. */
  compile(text: string, budget?: CompileBudget): CheckedExpression | CompileFailure {
    const parsed = parse(text, this.#macros, budget)
    if ('problems' in parsed) return { problem: formatProblems(text, parsed.problems) }
    const { expr } = parsed
    const problems = check(expr, this.#scope)
    const wrong = problems.length > 0 ? problems : validateLiterals(expr)
    if (wrong.length > 0) return { problem: formatProblems(text, wrong) }
    const variables = [...this.#scope.variables.keys()]
    return {
      text,
      type: expr.type as t.Type,
      uses: (name) => mentions(expr, name),
      reads: (name, member) => selects(expr, name, member),
      estimate: (sizeOf) => estimateCost(expr, sizeOf),
      program: () => Program.of(expr, variables),
    }
  }
}

/** `1.33` becomes 1033. */
function releaseNumber(release: string): number {
  const [major = 0, minor = 0] = release.split('.').map(Number)
  return major * 1000 + minor
}

/** Whether an expression mentions a name. As on kube-apiserver, comprehension variables of the same name count, too. */
function mentions(expr: Expr, name: string): boolean {
  if (expr.kind === 'ident') return expr.name === name || expr.name === `.${name}`
  if (expr.kind === 'select' && expr.resolved !== undefined) return expr.resolved.name === name
  return childrenOf(expr).some((child) => mentions(child, name))
}

function selects(expr: Expr, name: string, member: string): boolean {
  if (expr.kind === 'select' && expr.field === member && isVariable(expr.operand, name)) return true
  if (expr.kind === 'call' && expr.name === '_?._' && isVariable(expr.args[0], name)) {
    const [, chosen] = expr.args
    if (chosen?.kind === 'literal' && chosen.value === member) return true
  }
  return childrenOf(expr).some((child) => selects(child, name, member))
}

function isVariable(expr: Expr | undefined, name: string): boolean {
  return expr?.kind === 'ident' && expr.name === name
}
