import type { AdmissionPlugin } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'

/** Lets everything pass: a name that old configurations mention. */
export function alwaysAdmit(): AdmissionPlugin {
  return { name: 'AlwaysAdmit', handles: () => false }
}

/** Refuses every write. For tests of what happens then. */
export function alwaysDeny(): AdmissionPlugin {
  return {
    name: 'AlwaysDeny',
    handles: () => true,
    validate(object, attributes) {
      throw forbidden(attributes, object, 'admission control is denying all modifications')
    },
  }
}
