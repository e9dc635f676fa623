/** Field paths: `spec.containers[0].env[HOME]`. */

/**
 * An immutable field path. Every step returns a new path; the text is computed on demand.
 *
 * @example
 * import { Path } from '@krmkit/meta'
 * String(Path.of('spec').child('containers').index(0)) // 'spec.containers[0]'
 */
export class Path {
  readonly #parent: Path | undefined
  readonly #name: string
  readonly #index: boolean

  private constructor(parent: Path | undefined, name: string, index: boolean) {
    this.#parent = parent
    this.#name = name
    this.#index = index
  }

  /** A path that starts at the root of an object with these members. */
  static of(name: string, ...more: string[]): Path {
    let path = new Path(undefined, name, false)
    for (const next of more) path = new Path(path, next, false)
    return path
  }

  /** Appends members. */
  child(name: string, ...more: string[]): Path {
    let path = new Path(this, name, false)
    for (const next of more) path = new Path(path, next, false)
    return path
  }

  /** Appends a list index. */
  index(index: number): Path {
    return new Path(this, String(index), true)
  }

  /** Appends a map key, or the key of a list item. */
  key(key: string): Path {
    return new Path(this, key, true)
  }

  toString(): string {
    const steps: Path[] = []
    for (let at: Path | undefined = this; at !== undefined; at = at.#parent) steps.push(at)
    let text = ''
    for (let i = steps.length - 1; i >= 0; i--) {
      const step = steps[i] as Path
      // As kube-apiserver, prints a member with an empty name as an empty index.
      if (step.#index || (step.#name === '' && step.#parent !== undefined)) text += `[${step.#name}]`
      else text += step.#parent === undefined ? step.#name : `.${step.#name}`
    }
    return text
  }
}
