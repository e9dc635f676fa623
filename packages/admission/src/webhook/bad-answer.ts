/** An answer that is no review of the kind that was asked for; the message tells what is wrong. */
export class BadAnswer extends Error {
  /** `unreadable`: it cannot be decoded. `invalid`: what it says does not hold. */
  readonly code: 'unreadable' | 'invalid'

  constructor(code: BadAnswer['code'], message: string) {
    super(message)
    this.name = 'BadAnswer'
    this.code = code
  }
}
