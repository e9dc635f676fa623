/** `InvalidPolicy`: the policy is none, or breaks its rules. `BufferFull`: too many entries wait. `NotDelivered`: nobody took them. */
export type AuditErrorCode = 'InvalidPolicy' | 'BufferFull' | 'NotDelivered'

/** The trail cannot be kept as it is asked for. */
export class AuditError extends Error {
  override readonly name = 'AuditError'
  readonly code: AuditErrorCode

  constructor({ code, message }: { readonly code: AuditErrorCode; readonly message: string }) {
    super(message)
    this.code = code
  }
}
