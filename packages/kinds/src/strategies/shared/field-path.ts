import { type FieldError, field, type NamingProfile, Path } from '@krmkit/meta'
import { goText } from '@krmkit/meta/go-text'
import { ErrorList } from '@krmkit/meta/validation'
import type { StrategyContext } from '../../interfaces.ts'

/** The errors of one validation, with the context that the rules need. A full list throws `ErrorListFull`; see `ErrorList`. */
export class ContextErrorList extends ErrorList {
  readonly context: StrategyContext

  constructor(context: StrategyContext) {
    super()
    this.context = context
  }

  /** Appends errors one by one, as a list may be longer than a call takes arguments. */
  add(errors: readonly FieldError[]): void {
    for (const error of errors) this.push(error)
  }

  /** The field `name` at the root of the object. */
  child(name: string): FieldPath {
    return new FieldPath(this, undefined, 'child', name)
  }
}

type Step = 'child' | 'index' | 'key'

/**
 * The path of a field in an object under validation, with the list that its errors go to.
 *
 * `child`, `index` and `key` each allocate one small object; the `Path` itself is built only for an error. The methods that
 * report errors append to the list, so the order of calls is the order of the causes in the response.
 */
export class FieldPath {
  readonly errors: ContextErrorList
  // TypeScript's `private`: validating one object allocates dozens of paths, and `#private` members are slower.
  private readonly parent: FieldPath | undefined
  private readonly kind: Step
  private readonly step: string | number

  constructor(errors: ContextErrorList, parent: FieldPath | undefined, kind: Step, step: string | number) {
    this.errors = errors
    this.parent = parent
    this.kind = kind
    this.step = step
  }

  get profile(): NamingProfile {
    return this.errors.context.profile
  }

  child(name: string): FieldPath {
    return new FieldPath(this.errors, this, 'child', name)
  }

  index(position: number): FieldPath {
    return new FieldPath(this.errors, this, 'index', position)
  }

  key(name: string): FieldPath {
    return new FieldPath(this.errors, this, 'key', name)
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

  /** Reports one `invalid` error per message; takes the result of a name or format check. */
  invalidAll(value: unknown, messages: readonly string[]): void {
    for (const message of messages) this.invalid(value, message)
  }

  /** Reports an `invalid` error whose value is printed as `text`, for values that Go prints in a special form. */
  invalidText(text: string, detail: string): void {
    this.#add(field.invalid(this.path(), goText(text), detail))
  }

  forbidden(detail: string): void {
    this.#add(field.forbidden(this.path(), detail))
  }

  /** `detail` is set where kube-apiserver prints more than the value. */
  duplicate(value: unknown, detail = ''): void {
    this.#add(field.duplicate(this.path(), value, detail))
  }

  /** `allowed` is printed in the given order. */
  notSupported(value: unknown, allowed: readonly string[]): void {
    this.#add(field.notSupported(this.path(), value, allowed))
  }

  /** `detail` as of {@link duplicate}. */
  notFound(value: unknown, detail = ''): void {
    this.#add(field.notFound(this.path(), value, detail))
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

  /** Appends the errors of another check. */
  add(errors: readonly FieldError[]): void {
    for (const error of errors) this.#add(error)
  }

  #add(error: FieldError): void {
    this.errors.push(error)
  }
}
