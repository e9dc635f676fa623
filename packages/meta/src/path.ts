/**
 * Where in an object something is: `spec.containers[0].env[HOME]`.
 */

/** An immutable path; every step returns a new one, and the text is made only when asked for. */
export class Path {
  readonly #parent: Path | undefined
  readonly #name: string
  readonly #index: boolean

  private constructor(parent: Path | undefined, name: string, index: boolean) {
    this.#parent = parent
    this.#name = name
    this.#index = index
  }

  /** A path that starts at the root of an object with these member names. */
  static of(name: string, ...more: string[]): Path {
    let path = new Path(undefined, name, false)
    for (const next of more) path = new Path(path, next, false)
    return path
  }

  /** Goes into members of an object. */
  child(name: string, ...more: string[]): Path {
    let path = new Path(this, name, false)
    for (const next of more) path = new Path(path, next, false)
    return path
  }

  /** Goes into an item of a list. */
  index(index: number): Path {
    return new Path(this, String(index), true)
  }

  /** Goes into a member of a map, or an item of a list by its key. */
  key(key: string): Path {
    return new Path(this, key, true)
  }

  toString(): string {
    const steps: Path[] = []
    for (let at: Path | undefined = this; at !== undefined; at = at.#parent) steps.push(at)
    let text = ''
    for (let i = steps.length - 1; i >= 0; i--) {
      const step = steps[i] as Path
      if (step.#index) text += `[${step.#name}]`
      else text += step.#parent === undefined ? step.#name : `.${step.#name}`
    }
    return text
  }
}
