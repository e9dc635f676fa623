export { BaseError, type BaseErrorCode, type BaseErrorFields } from './base-error.ts'
export type { ByteSource, TimeSource } from './interfaces.ts'
export { StacklessError } from './stackless-error.ts'
