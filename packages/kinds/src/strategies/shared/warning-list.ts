/** Stops the search for warnings when more of them would not be shown. Never leaves {@link collectWarnings}. */
class WarningListFull extends Error {
  readonly list: readonly string[]

  constructor(list: readonly string[]) {
    super('the list of warnings is full')
    this.list = list
  }
}

/** Limits of the `Warning` headers of a response: code points in total, and of each text once the total is exceeded. */
const maxTotalCharacters = 4096
const maxCharacters = 256
const controlCharacter = /\p{Cc}/u

/** An array without duplicates. The push after which all headers of a response are known throws `WarningListFull`. */
class WarningList extends Array<string> {
  readonly #texts = new Set<string>()
  #characters = 0
  #shown = 0

  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }

  override push(...texts: string[]): number {
    for (const text of texts) {
      if (this.#texts.has(text)) continue
      this.#texts.add(text)
      super.push(text)
      this.#count(text)
    }
    return this.length
  }

  #count(text: string): void {
    // Headers omit such texts.
    if (text === '' || controlCharacter.test(text)) return
    // A code point has one or two units, so half of them are certain to count.
    this.#characters += text.length / 2
    this.#shown += Math.min(text.length / 2, maxCharacters)
    if (this.#shown >= maxTotalCharacters && this.#characters > maxTotalCharacters) throw new WarningListFull(this)
  }
}

/** Collects the warnings that `walk` pushes, as many as the headers of a response show. */
export function collectWarnings(walk: (texts: string[]) => void): string[] {
  const texts = new WarningList()
  try {
    walk(texts)
  } catch (error) {
    if (!(error instanceof WarningListFull) || error.list !== texts) throw error
  }
  return texts.length === 0 ? [] : [...texts]
}
