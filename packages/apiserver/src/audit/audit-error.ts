/** `InvalidPolicy`: malformed policy. `BufferFull`: events were dropped. `NotDelivered`: the backend rejected events or did not respond. */
export type AuditErrorCode = 'InvalidPolicy' | 'BufferFull' | 'NotDelivered'

/** An invalid audit policy, or audit events that were lost. */
export class AuditError extends Error {
  override readonly name = 'AuditError'
  readonly code: AuditErrorCode

  constructor({ code, message, cause }: { readonly code: AuditErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}
