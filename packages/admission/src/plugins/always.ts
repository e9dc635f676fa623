import type { AdmissionPlugin } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'

/** Does nothing; exists because configurations name it. */
export function alwaysAdmit(): AdmissionPlugin {
  return { name: 'AlwaysAdmit', handles: () => false }
}

/** Refuses every write; for tests. */
export function alwaysDeny(): AdmissionPlugin {
  return {
    name: 'AlwaysDeny',
    handles: () => true,
    validate(object, attributes) {
      throw forbidden(attributes, object, 'admission control is denying all modifications')
    },
  }
}
