/** Devices by driver, pool and name. */
export interface DeviceName {
  readonly driver?: string
  readonly pool?: string
  readonly device?: string
}

const separator = '\0'

/** Identifies a device. */
export function deviceId({ driver = '', pool = '', device = '' }: DeviceName): string {
  return [driver, pool, device].join(separator)
}
