import { type GoText, goText } from '@krmkit/meta/go-text'

/** Devices by driver, pool and name, and the share of a device that several claims use. */
export interface DeviceName {
  readonly driver?: string
  readonly pool?: string
  readonly device?: string
  readonly shareID?: string | null
}

const separator = '\0'

/** Identifies a device, or a share of it. */
export function deviceId({ driver = '', pool = '', device = '', shareID }: DeviceName): string {
  return [driver, pool, device, shareID ?? ''].join(separator)
}

/** A key of `deviceId` as the value of an error; since 1.34 errors show its members. */
export function printDeviceId(id: string): GoText {
  const [Driver, Pool, Device, ShareID] = id.split(separator)
  return goText(`${Driver}/${Pool}/${Device}`, JSON.stringify({ Driver, Pool, Device, ShareID }))
}
