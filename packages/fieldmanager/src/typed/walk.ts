import { maxFieldErrors, maxFieldErrorsLength } from '@krmkit/meta/validation'
import { FieldManagerError } from '../field-manager-error.ts'
import type { PathElement } from '../fieldpath/element.ts'
import { formatPath } from '../fieldpath/format-path.ts'

/** Maximum depth of objects: far above that of real objects, and below the stack limit. */
export const maxObjectDepth = 1000

/** The error for an object beyond the maximum depth. */
export function tooDeepError(): FieldManagerError {
  return new FieldManagerError({ code: 'TooLarge', message: `the object is nested deeper than ${maxObjectDepth} levels` })
}

/** State of a recursive walk: the current path and the errors found. */
export class Walk {
  readonly path: PathElement[] = []
  readonly errors: string[] = []
  #length = 0

  /** Whether the list of errors has its maximum length; further errors are dropped. Differs: kube-apiserver reports all. */
  get full(): boolean {
    return this.errors.length >= maxFieldErrors || this.#length >= maxFieldErrorsLength
  }

  enter(element: PathElement): void {
    if (this.path.push(element) > maxObjectDepth) {
      throw tooDeepError()
    }
  }

  leave(): void {
    this.path.pop()
  }

  fail(message: string): void {
    if (this.full) return
    const text = this.path.length === 0 ? message : `${formatPath(this.path)}: ${message}`
    this.errors.push(text)
    this.#length += text.length
  }

  /** @throws FieldManagerError `InvalidObject` with all errors. */
  check(prefix = ''): void {
    if (this.errors.length === 0) return
    throw new FieldManagerError({ code: 'InvalidObject', message: prefix + joinErrors(this.errors), errors: this.errors })
  }
}

/** Formats a single error unchanged, and several errors as a list. */
export function joinErrors(errors: readonly string[]): string {
  return errors.length === 1 ? (errors[0] as string) : ['errors:', ...errors.map((text) => `  ${text}`)].join('\n')
}
