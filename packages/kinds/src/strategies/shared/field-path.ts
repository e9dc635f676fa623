/** Where in an object a rule looks, and where its findings go. */
import { ErrorBudget, ErrorListFull, type FieldError, field, goText, type NamingProfile, Path } from '@krmkit/meta'
import type { StrategyContext } from '../../interfaces.ts'

/** What one validation has found so far, and what it may know. */
export class Report {
  readonly errors: FieldError[] = []
  readonly context: StrategyContext
  #budget: ErrorBudget | undefined

  constructor(context: StrategyContext) {
    this.context = context
  }

  /** Findings of a check that lives elsewhere. */
  add(errors: readonly FieldError[]): void {
    for (const error of errors) this.addOne(error)
  }

  /** @throws ErrorListFull when the report has all that it can take, which ends the validation. */
  addOne(error: FieldError): void {
    this.errors.push(error)
    this.#budget ??= new ErrorBudget()
    if (this.#budget.spend(error)) throw new ErrorListFull(this.errors)
  }

  /** The member `name` of the object itself. */
  at(name: string): FieldPath {
    return new FieldPath(this, undefined, 'child', name)
  }
}

type Step = 'child' | 'index' | 'key'

/**
 * A position in an object under validation.
 *
 * Moving (`child`, `index`, `key`) costs one small object; the path itself is only built when something is wrong.
 * Reporting methods append to the report, so the order of calls is the order of causes.
 */
export class FieldPath {
  readonly report: Report
  // Plain members: these are made by the dozen for every object, and private ones cost more.
  private readonly parent: FieldPath | undefined
  private readonly kind: Step
  private readonly step: string | number

  constructor(report: Report, parent: FieldPath | undefined, kind: Step, step: string | number) {
    this.report = report
    this.parent = parent
    this.kind = kind
    this.step = step
  }

  get profile(): NamingProfile {
    return this.report.context.profile
  }

  child(name: string): FieldPath {
    return new FieldPath(this.report, this, 'child', name)
  }

  index(position: number): FieldPath {
    return new FieldPath(this.report, this, 'index', position)
  }

  key(name: string): FieldPath {
    return new FieldPath(this.report, this, 'key', name)
  }

  path(): Path {
    if (this.parent === undefined) return Path.of(String(this.step))
    const base = this.parent.path()
    if (this.kind === 'index') return base.index(this.step as number)
    return this.kind === 'key' ? base.key(String(this.step)) : base.child(String(this.step))
  }

  required(detail = ''): void {
    this.#add(field.required(this.path(), detail))
  }

  invalid(value: unknown, detail: string): void {
    this.#add(field.invalid(this.path(), value, detail))
  }

  /** One `invalid` for each message; the answer of a name or format check can be passed as it is. */
  invalidAll(value: unknown, messages: readonly string[]): void {
    for (const message of messages) this.invalid(value, message)
  }

  /** As `invalid`, for values that the stock server prints in a form of its own: `text` appears as it is. */
  invalidText(text: string, detail: string): void {
    this.#add(field.invalid(this.path(), goText(text), detail))
  }

  forbidden(detail: string): void {
    this.#add(field.forbidden(this.path(), detail))
  }

  /** `detail` is for the few places where the stock server says more than the value. */
  duplicate(value: unknown, detail = ''): void {
    const error = field.duplicate(this.path(), value)
    this.#add(detail === '' ? error : { ...error, message: `${error.message}: ${detail}` })
  }

  /** `allowed` is printed in the order given. */
  notSupported(value: unknown, allowed: readonly string[]): void {
    this.#add(field.notSupported(this.path(), value, allowed))
  }

  notFound(value: unknown): void {
    this.#add(field.notFound(this.path(), value))
  }

  tooLong(value: unknown, max: number): void {
    this.#add(field.tooLong(this.path(), value, max))
  }

  tooMany(actual: number, max: number): void {
    this.#add(field.tooMany(this.path(), actual, max))
  }

  internal(detail: string): void {
    this.#add(field.internal(this.path(), detail))
  }

  /** Findings of a check that lives elsewhere. */
  add(errors: readonly FieldError[]): void {
    for (const error of errors) this.#add(error)
  }

  #add(error: FieldError): void {
    this.report.addOne(error)
  }
}
